import { createCaller } from '@plant-store/core/router';
import { scopes } from '@plant-store/schemas';
import { expect, it } from 'vitest';
import { startServer } from './fixtures/running-server.ts';
import { surfaces } from './fixtures/surfaces.ts';

const invalidPlants = ['"5"', 'true', 'null', '[]', '1.5', '2e19'].map(
  (id) => `{"id":${id},"name":"x"}`,
);

it('rejects the same ids over a surface after any requests over the other surface', async () => {
  const server = await startServer('Postgres');
  const caller = createCaller({ store: server.store, principal: { name: 'core', scopes } });
  for (let round = 0; round < 3; round++) {
    for (const [i, json] of invalidPlants.entries()) {
      const order = round % 2 === 0 ? surfaces : surfaces.toReversed();
      const input: never = JSON.parse(json) as never; // TypeScript would reject this plant.
      await expect(caller.createPlant(input)).rejects.toMatchObject({ cause: { code: 40001 } });
      for (const surface of order) {
        expect(await surface.send(server, json)).toMatchObject({ body: { error: 40001 } });
        const good = { id: 100 * round + i, name: 'x' };
        expect(await surface.send(server, JSON.stringify(good))).toMatchObject({ status: 200 });
      }
      await expect(caller.createPlant(input)).rejects.toMatchObject({ cause: { code: 40001 } });
    }
  }
  expect(await server.stopAndRead()).toHaveLength(3 * invalidPlants.length);
});

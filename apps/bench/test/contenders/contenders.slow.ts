import { openPlantStore } from '@plant-store/core';
import { createDatabase } from '@plant-store/test-setup';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { contenders } from '../../src/contenders/contenders.ts';
import { accessToken } from '../../src/load/load.ts';
import { type StartedServer, startServer } from '../../src/processes/start-server.ts';

let databaseUrl: string;
const started = new Map<string, StartedServer>();

const servers = contenders.flatMap(({ title, server }, index) =>
  server?.storesPlants ? [{ ...server, title, firstId: 1 + index * 100 }] : [],
);

beforeAll(async () => {
  databaseUrl = await createDatabase(inject('postgresUrl'));
  await (await openPlantStore({ databaseUrl })).close();

  // Several contenders can have the same program, which starts only once.
  const programs = new Map(servers.map(({ program, env }) => [program, env]));
  const settings = { DATABASE_URL: databaseUrl, PLANT_STORE_TOKEN: accessToken };
  await Promise.all(
    [...programs].map(async ([program, env]) => {
      started.set(program, await startServer(program, { ...env, ...settings }));
    }),
  );
});

afterAll(() => Promise.all([...started.values()].map((server) => server.stop())));

it.each(servers)(
  '$title requires the access token, validates plants and stores them',
  async ({ program, format, firstId }) => {
    const post = (plants: object[], authorization?: string) =>
      fetch(started.get(program)?.url + format.path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
        body: format.body(plants.map((plant) => JSON.stringify(plant))),
      });
    const ids = Array.from({ length: format.plants }, (_, call) => firstId + call);
    const plants = ids.map((id) => ({ id, name: `Ficus ${id}`, tag: 'Moraceae' }));
    const nameless = ids.map((id) => ({ id }));
    const bearer = `Bearer ${accessToken}`;

    expect((await post(plants)).status).toBe(401);
    expect((await post(plants, 'Bearer other')).status).toBe(401);
    expect((await post(nameless, bearer)).status).toBe(400);
    expect(await storedPlants(ids)).toEqual([]);

    // The second time, the plants exist already.
    for (const _ of ['first time', 'second time']) {
      const response = await post(plants, bearer);
      expect(response.status).toBe(200);
      expect(plantsIn(await response.json())).toEqual(plants.map(({ id, ...plant }) => plant));
      expect(await storedPlants(ids)).toEqual(plants);
    }
  },
);

async function storedPlants(ids: number[]) {
  const sql = postgres(databaseUrl, { max: 1 });
  const rows = await sql`select id::int, name, tag from plants where id in ${sql(ids)} order by id`;
  await sql.end();
  return [...rows];
}

/** Returns the plants in a response of either surface. */
function plantsIn(response: unknown): unknown[] {
  const responses = [response].flat() as { result?: { data: { json: unknown } } }[];
  return responses.map((one) => one.result?.data.json ?? one);
}

import { openPlantStore } from '@plant-store/core';
import { createDatabase } from '@plant-store/test-setup';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { contenders } from '../../src/contenders/contenders.ts';
import { accessToken } from '../../src/load/load.ts';
import { type StartedServer, startServer } from '../../src/processes/start-server.ts';

const started = new Map<string, StartedServer>();

const readers = contenders.flatMap(({ title, server }) =>
  server?.reads ? [{ ...server, reads: server.reads, title }] : [],
);

const plants = Array.from({ length: 201 }, (_, i) => ({
  id: String(-8_999_992_345_678_901_234n + BigInt(i)),
  name: `Hoya ${i}`,
  ...(i % 2 === 0 && { tag: 'Apocynaceae' }),
  createdAt: '2026-11-21T09:30:00.000Z',
}));

beforeAll(async () => {
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  await (await openPlantStore({ databaseUrl })).close();
  const sql = postgres(databaseUrl, { max: 1 });
  const rows = plants.map(({ tag = null, createdAt, ...plant }) => ({
    ...plant,
    tag,
    created_at: createdAt,
  }));
  await sql`insert into plants ${sql(rows)}`;
  await sql.end();

  const programs = new Map(readers.map(({ program, env }) => [program, env]));
  const settings = { DATABASE_URL: databaseUrl, PLANT_STORE_TOKEN: accessToken };
  await Promise.all(
    [...programs].map(async ([program, env]) => {
      started.set(program, await startServer(program, { ...env, ...settings }));
    }),
  );
});

afterAll(() => Promise.all([...started.values()].map((server) => server.stop())));

it.each(readers)(
  '$title requires the access token and reads plants by id and in pages',
  async ({ program, reads }) => {
    const get = async (
      format: { path: string },
      id = '5',
      authorization = `Bearer ${accessToken}`,
    ) => {
      const url = started.get(program)?.url + format.path.replace('{id}', id);
      const response = await fetch(url, { headers: { authorization } });
      return { status: response.status, body: contentOf(await response.text()) };
    };
    for (const format of [reads.get, reads.list]) {
      expect((await get(format, '5', 'Bearer other')).status).toBe(401);
      expect((await get(format, 'x')).status).toBe(400);
    }
    for (const plant of plants.slice(0, 2)) {
      expect(await get(reads.get, plant.id)).toEqual({ status: 200, body: plant });
    }
    expect((await get(reads.get)).status).toBe(404);

    const firstPage = { plants: plants.slice(1, 101), next: plants[100]?.id };
    expect(await get(reads.list, plants[0]?.id)).toEqual({ status: 200, body: firstPage });
    const lastPage = { plants: plants.slice(150) };
    expect(await get(reads.list, plants[149]?.id)).toEqual({ status: 200, body: lastPage });
  },
);

/** Returns the content of a response, without an envelope and nulls. The ids are text. */
function contentOf(text: string): unknown {
  const isId = /(?<=[:[])-?\d{16,}/g;
  const response = JSON.parse(text === '' ? '{}' : text.replace(isId, '"$&"'), (_key, value) =>
    value === null ? undefined : value,
  );
  return response.result?.data.json ?? response;
}

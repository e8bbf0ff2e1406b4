import { createDatabase } from '@plant-store/test-setup';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { contenders } from '../../src/contenders/contenders.ts';
import { createTables } from '../../src/database/bench-postgres.ts';
import { accessToken } from '../../src/load/load.ts';
import { type StartedServer, startServer } from '../../src/processes/start-server.ts';

let sql: postgres.Sql;
const started = new Map<string, StartedServer>();

const servers = contenders.flatMap(({ title, server }, index) =>
  server?.storesPlants ? [{ ...server, title, firstId: 1 + index * 100 }] : [],
);
const readers = servers.flatMap(({ reads, ...server }) => (reads ? [{ ...server, reads }] : []));

const storedPlants = Array.from({ length: 201 }, (_, i) => ({
  id: String(-8_999_992_345_678_901_234n + BigInt(i)),
  name: `Hoya ${i}`,
  ...(i % 2 === 0 && { tag: 'Apocynaceae' }),
  createdAt: '2026-11-21T09:30:00.000Z',
}));

beforeAll(async () => {
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  await createTables(databaseUrl);
  sql = postgres(databaseUrl, { max: 1 });

  // Several contenders can have the same program. The test starts this program for all of them together.
  const programs = new Map(servers.map(({ program, env }) => [program, env]));
  const settings = { DATABASE_URL: databaseUrl, PLANT_STORE_TOKEN: accessToken };
  await Promise.all(
    [...programs].map(async ([program, env]) => {
      started.set(program, await startServer(program, { ...env, ...settings }));
    }),
  );
});

afterAll(async () => {
  await Promise.all([...started.values()].map((server) => server.stop()));
  await sql.end();
});

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
    const rows = async () => [
      ...(await sql`select id::int, name, tag from plants where id in ${sql(ids)} order by id`),
    ];

    expect((await post(plants)).status).toBe(401);
    expect((await post(plants, 'Bearer other')).status).toBe(401);
    expect((await post(nameless, bearer)).status).toBe(400);
    expect(await rows()).toEqual([]);

    // The first request creates the plants. The second request finds the existing plants.
    for (const _ of ['first time', 'second time']) {
      const response = await post(plants, bearer);
      expect(response.status).toBe(200);
      expect(plantsIn(await response.json())).toEqual(plants.map(({ id, ...plant }) => plant));
      expect(await rows()).toEqual(plants);
    }
  },
);

it.each(readers)(
  '$title requires the access token and reads plants by id and in pages',
  async ({ program, reads }) => {
    await sql`truncate plants`;
    const rows = storedPlants.map(({ tag = null, createdAt, ...plant }) => {
      return { ...plant, tag, created_at: createdAt };
    });
    await sql`insert into plants ${sql(rows)}`;
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
    for (const plant of storedPlants.slice(0, 2)) {
      expect(await get(reads.get, plant.id)).toEqual({ status: 200, body: plant });
    }
    expect((await get(reads.get)).status).toBe(404);

    const firstPage = { plants: storedPlants.slice(1, 101), next: storedPlants[100]?.id };
    expect(await get(reads.list, storedPlants[0]?.id)).toEqual({ status: 200, body: firstPage });
    const lastPage = { plants: storedPlants.slice(150) };
    expect(await get(reads.list, storedPlants[149]?.id)).toEqual({ status: 200, body: lastPage });
  },
);

/** Returns the plants in a response over REST or tRPC. */
function plantsIn(response: unknown): unknown[] {
  const responses = [response].flat() as { result?: { data: { json: unknown } } }[];
  return responses.map((one) => one.result?.data.json ?? one);
}

/** Returns the content of a response as REST sends it. Leaves out nulls, and turns ids into text. */
function contentOf(text: string): unknown {
  const isId = /(?<=[:[])-?\d{16,}/g;
  const response = JSON.parse(text === '' ? '{}' : text.replace(isId, '"$&"'), (_key, value) =>
    value === null ? undefined : value,
  );
  return response.result?.data.json ?? response;
}

import { openPlantStore } from '@plant-store/core';
import { createDatabase } from '@plant-store/test-setup';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { contenders } from '../src/contenders.ts';
import { token } from '../src/load-server.ts';
import { type StartedServer, startServer } from '../src/started-server.ts';

let databaseUrl: string;
const started = new Map<string, StartedServer>();

const served = contenders.flatMap(({ title, server }, index) =>
  server?.stores ? [{ ...server, title, firstId: 1 + index * 100 }] : [],
);

beforeAll(async () => {
  databaseUrl = await createDatabase(inject('postgresUrl'));
  await (await openPlantStore({ databaseUrl })).close();

  // A program that is several contenders is started once.
  const programs = new Map(served.map(({ program, env }) => [program, env]));
  const settings = { DATABASE_URL: databaseUrl, PLANT_STORE_TOKEN: token };
  await Promise.all(
    [...programs].map(async ([program, env]) => {
      started.set(program, await startServer(program, { ...env, ...settings }));
    }),
  );
});

afterAll(() => Promise.all([...started.values()].map((server) => server.stop())));

it.each(served)('$title does the same job', async ({ program, wire, firstId }) => {
  const post = (plants: object[], authorization?: string) =>
    fetch(started.get(program)?.url + wire.path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
      body: wire.body(plants.map((plant) => JSON.stringify(plant))),
    });
  const ids = Array.from({ length: wire.plants }, (_, call) => firstId + call);
  const plants = ids.map((id) => ({ id, name: `Ficus ${id}`, tag: 'Moraceae' }));
  const nameless = ids.map((id) => ({ id }));
  const bearer = `Bearer ${token}`;

  expect((await post(plants)).status).toBe(401);
  expect((await post(plants, 'Bearer other')).status).toBe(401);
  expect((await post(nameless, bearer)).status).toBe(400);
  expect(await stored(ids)).toEqual([]);

  // The second time, every id is taken by the same plant.
  for (const _ of ['new', 'again']) {
    const reply = await post(plants, bearer);
    expect(reply.status).toBe(200);
    expect(plantsIn(await reply.json())).toEqual(plants.map(({ id, ...plant }) => plant));
    expect(await stored(ids)).toEqual(plants);
  }
});

async function stored(ids: number[]) {
  const sql = postgres(databaseUrl, { max: 1 });
  const rows = await sql`select id::int, name, tag from plants where id in ${sql(ids)} order by id`;
  await sql.end();
  return [...rows];
}

/** What a reply says of its plants, on either surface. */
function plantsIn(reply: unknown): unknown[] {
  const replies = [reply].flat() as { result?: { data: { json: unknown } } }[];
  return replies.map((one) => one.result?.data.json ?? one);
}

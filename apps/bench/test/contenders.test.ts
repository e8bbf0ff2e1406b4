import { openPlantStore } from '@plant-store/core';
import { createDatabase } from '@plant-store/test-setup';
import postgres from 'postgres';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { contenders } from '../src/contenders.ts';
import { token } from '../src/measure.ts';
import { type StartedServer, startServer } from '../src/started-server.ts';
import type { Wire } from '../src/wire.ts';

let databaseUrl: string;

beforeAll(async () => {
  databaseUrl = await createDatabase(inject('postgresUrl'));
  await (await openPlantStore({ databaseUrl })).close();
});

const servers = contenders.flatMap(({ title, server }, index) =>
  server?.stores ? [{ ...server, title, firstId: 1 + index * 100 }] : [],
);

// A program that is several contenders is started once.
const programs = [...Map.groupBy(servers, ({ program }) => program)];

describe.each(programs)('the server %s', (program, served) => {
  let server: StartedServer;

  beforeAll(async () => {
    const env = { ...served[0]?.env, DATABASE_URL: databaseUrl, PLANT_STORE_TOKEN: token };
    server = await startServer(program, env);
    return () => server.stop();
  });

  const post = ({ path, body }: Wire, plants: object[], authorization?: string) =>
    fetch(server.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
      body: body(plants.map((plant) => JSON.stringify(plant))),
    });

  it.each(served)('does the same job: $title', async ({ wire, firstId }) => {
    const ids = Array.from({ length: wire.plants }, (_, call) => firstId + call);
    const plants = ids.map((id) => ({ id, name: `Ficus ${id}`, tag: 'Moraceae' }));
    const bearer = `Bearer ${token}`;

    expect((await post(wire, plants)).status).toBe(401);
    expect((await post(wire, plants, 'Bearer other')).status).toBe(401);
    expect(
      (
        await post(
          wire,
          ids.map((id) => ({ id })),
          bearer,
        )
      ).status,
    ).toBe(400);
    expect(await stored(ids)).toEqual([]);

    // The second time, every id is taken by the same plant.
    for (const _ of ['new', 'again']) {
      const reply = await post(wire, plants, bearer);
      expect(reply.status).toBe(200);
      expect(plantsIn(await reply.json())).toEqual(plants.map(({ id, ...plant }) => plant));
      expect(await stored(ids)).toEqual(plants);
    }
  });
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

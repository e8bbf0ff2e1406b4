import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { PGlite } from '@electric-sql/pglite';
import { startAcknowledgedLoad, startProcess } from '@plant-store/test-setup';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { startPlantsDatabase } from './plants-database.ts';
import { expectStored, type Row } from './stored-plants.ts';

/** A new one for every run; set it to repeat a run. */
const seed = Number(process.env['FAST_CHECK_SEED'] ?? Date.now() % 2 ** 31);

/** What is to be done at the end, also when a test has failed. */
const cleanUps: (() => unknown)[] = [];

afterAll(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
});

/** Starts the server's program, and waits until it listens. */
async function start(env: Record<string, string>) {
  const server = startProcess(env);
  cleanUps.push(() => server.child.kill('SIGKILL'));
  const [, url = ''] = await server.printed(/REST +(\S+)\/plants/);
  return { ...server, url };
}

/** A place for plants that the server's program keeps them in, by these settings. */
interface Place {
  /** With a token of its own: what one server was sent, another that gets its port may not take. */
  env: { PLANT_STORE_TOKEN: string; [name: string]: string };
  rows(): Promise<Row[]>;
}

const select = 'select id::int, name, tag from plants';

async function onPostgres(): Promise<Place> {
  const { url, admin, stop } = await startPlantsDatabase();
  cleanUps.push(stop);
  const env = { DATABASE_URL: url, PLANT_STORE_TOKEN: randomUUID() };
  return { env, rows: () => admin.unsafe<Row[]>(select) };
}

async function embedded(): Promise<Place> {
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-killed-'));
  cleanUps.push(() => rm(directory, { recursive: true }));
  return {
    env: { PLANT_STORE_DATA_DIR: directory, PLANT_STORE_TOKEN: randomUUID() },
    async rows() {
      const database = await PGlite.create(join(directory, 'postgres'));
      const { rows } = await database.query<Row>(select);
      await database.close();
      return rows;
    },
  };
}

describe.concurrent(`killed at any moment (seed ${seed})`, () => {
  it.each([
    ['Postgres', onPostgres],
    ['the embedded database', embedded],
  ])(
    '50 times, it starts again and has on %s all that it acknowledged',
    {
      timeout: 300_000,
    },
    async (_, makePlace) => {
      const place = await makePlace();
      const moments = fc.sample(fc.integer({ min: 1, max: 300 }), { numRuns: 50, seed });
      let server = await start(place.env);
      const target = { url: server.url, token: place.env.PLANT_STORE_TOKEN };
      const load = startAcknowledgedLoad(target, 32);
      for (const acknowledgements of moments) {
        await load.acknowledged(acknowledgements);
        server.child.kill('SIGKILL');
        target.url = '';
        await server.ended();
        server = await start(place.env);
        target.url = server.url;
      }
      await load.acknowledged(100);
      await load.stop();
      server.child.kill('SIGTERM');
      expect(await server.ended()).toBe(0);

      const { acknowledged, answers } = load.seen;
      expectStored(acknowledged, await place.rows());
      expect(Object.keys(answers).toSorted()).toEqual(['200', 'none']);
    },
  );
});

/** Milliseconds in which the process ends. */
const endDeadline = 10_000;

it('loses no request when it is told to stop, though one is sent by half, and ends in time', async () => {
  const place = await onPostgres();
  const server = await start({ ...place.env, PLANT_STORE_DRAIN_DELAY: '1000' });
  const half = connect(Number(new URL(server.url).port), '127.0.0.1').on('error', () => {});
  half.write(
    `POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${place.env.PLANT_STORE_TOKEN}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 99\r\nExpect: 100-continue\r\n\r\n{',
  );
  await once(half, 'data');
  const load = startAcknowledgedLoad({ url: server.url, token: place.env.PLANT_STORE_TOKEN }, 32);
  await load.acknowledged(500);

  const toldAt = Date.now();
  server.child.kill('SIGTERM');
  while ((await fetch(`${server.url}/readyz`)).status === 200) await setTimeout(10);
  await load.acknowledged(100); // It still takes requests.
  await load.stop();
  expect(await server.ended()).toBe(0);
  expect(Date.now() - toldAt).toBeLessThan(endDeadline);

  const { acknowledged, answers } = load.seen;
  expect(Object.keys(answers)).toEqual(['200']);
  expectStored(acknowledged, await place.rows());
});

it('ten instances on one database give an id to one plant, and nobody sees them collide', async () => {
  const place = await onPostgres();
  const servers = await Promise.all(Array.from({ length: 10 }, () => start(place.env)));
  // Each goes through all ids in an order of its own, and names them in one of two ways.
  const ids = 1_000;
  const strides = [1, 999, 7, 993, 501, 499, 333, 667, 3, 997];
  const answers = servers.map(async ({ url }, instance) => {
    const plants = Array.from({ length: ids }, (_, i) => {
      const id = (i * (strides[instance] ?? 1)) % ids;
      return { id, name: `${id} of ${instance % 2}`, tag: null };
    });
    const answered = plants.map(async (plant) => {
      const reply = await fetch(`${url}/plants`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${place.env.PLANT_STORE_TOKEN}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ id: plant.id, name: plant.name }),
      });
      await reply.arrayBuffer();
      return { plant, status: reply.status };
    });
    return Promise.all(answered);
  });
  const all = (await Promise.all(answers)).flat();
  for (const { child } of servers) child.kill('SIGTERM');
  await Promise.all(servers.map((server) => server.ended()));

  const rows = new Map((await place.rows()).map((row) => [row.id, row]));
  expect(rows.size).toBe(ids);
  for (const { plant, status } of all) {
    expect(status).toBe(rows.get(plant.id)?.name === plant.name ? 200 : 409);
  }
});

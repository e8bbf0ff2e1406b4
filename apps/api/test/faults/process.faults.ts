import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { PGlite } from '@electric-sql/pglite';
import { hasPosixSignals, startAcknowledgedLoad, startProcess } from '@plant-store/test-setup';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { faultRow } from './fault-table.ts';
import { startPlantsDatabase } from './plants-database.ts';
import { expectStored, type Row } from './stored-plants.ts';

/** Every run has a new seed. Set `FAST_CHECK_SEED` to repeat a run. */
const seed = Number(process.env['FAST_CHECK_SEED'] ?? Date.now() % 2 ** 31);

/** Functions that run at the end, even if a test has failed. */
const cleanUps: (() => unknown)[] = [];

afterAll(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
});

/** Starts the server's program and waits until it listens. */
async function start(env: Record<string, string>) {
  const server = startProcess(env);
  cleanUps.push(() => server.child.kill('SIGKILL'));
  const [, url = ''] = await server.printed(/REST +(\S+)\/plants/);
  return { ...server, url };
}

/** A database of the server's program. */
interface Database {
  /**
   * The settings, with a token that only this server knows: a server that gets the port of another
   * one must reject its requests.
   */
  env: { PLANT_STORE_TOKEN: string; [name: string]: string };
  rows(): Promise<Row[]>;
}

const select = 'select id::int, name, tag from plants';

async function onPostgres(): Promise<Database> {
  const { url, admin, stop } = await startPlantsDatabase();
  cleanUps.push(stop);
  const env = { DATABASE_URL: url, PLANT_STORE_TOKEN: randomUUID() };
  return { env, rows: () => admin.unsafe<Row[]>(select) };
}

async function onEmbedded(): Promise<Database> {
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-killed-'));
  cleanUps.push(() => rm(directory, { recursive: true }));
  return {
    env: { PLANT_STORE_DATA_DIR: directory, PLANT_STORE_TOKEN: randomUUID() },
    async rows() {
      const embedded = await PGlite.create(join(directory, 'postgres'));
      const { rows } = await embedded.query<Row>(select);
      await embedded.close();
      return rows;
    },
  };
}

// Windows has no signals: the server cannot exit with code 0 on SIGTERM there.
describe.runIf(hasPosixSignals)(`the server's process (seed ${seed})`, { concurrent: true }, () => {
  it.for([
    ['Postgres', onPostgres],
    ['the embedded database', onEmbedded],
  ] as const)(
    'keeps every acknowledged plant on %s when it is killed 50 times',
    { timeout: 20 * 60_000 }, // A start takes long on a busy machine.
    async ([, makeDatabase], { task }) => {
      const database = await makeDatabase();
      const moments = fc.sample(fc.integer({ min: 1, max: 300 }), { numRuns: 50, seed });
      let server = await start(database.env);
      const target = { url: server.url, token: database.env.PLANT_STORE_TOKEN };
      const load = startAcknowledgedLoad(target, 32);
      for (const acknowledgements of moments) {
        await load.acknowledged(acknowledgements);
        server.child.kill('SIGKILL');
        target.url = '';
        await server.ended();
        server = await start(database.env);
        target.url = server.url;
      }
      await load.acknowledged(100);
      await load.stop();
      server.child.kill('SIGTERM');
      expect(await server.ended()).toBe(0);

      const rows = await database.rows();
      task.meta.fault = faultRow(load.seen, rows);
      const { acknowledged, outcomes } = load.seen;
      expectStored(acknowledged, rows);
      expect(Object.keys(outcomes).toSorted()).toEqual(['200', 'none']);
    },
  );
});

it.runIf(hasPosixSignals)(
  'responds to every request on SIGTERM, and exits despite an incomplete request',
  async () => {
    const database = await onPostgres();
    const server = await start({ ...database.env, PLANT_STORE_DRAIN_DELAY_MS: '5000' });
    const incomplete = connect(Number(new URL(server.url).port), '127.0.0.1').on('error', () => {});
    incomplete.write(
      `POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${database.env.PLANT_STORE_TOKEN}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 99\r\nExpect: 100-continue\r\n\r\n{',
    );
    await once(incomplete, 'data');
    const load = startAcknowledgedLoad(
      { url: server.url, token: database.env.PLANT_STORE_TOKEN },
      32,
    );
    await load.acknowledged(500);

    server.child.kill('SIGTERM');
    while ((await fetch(`${server.url}/readyz`)).status === 200) await setTimeout(10);
    await load.stop(); // This is within the drain delay, in which the server still accepts requests.
    expect(await server.ended()).toBe(0);

    const { acknowledged, outcomes } = load.seen;
    expect(Object.keys(outcomes)).toEqual(['200']);
    expectStored(acknowledged, await database.rows());
  },
);

it('ten servers on one database give each id to one plant, without other errors', async () => {
  const database = await onPostgres();
  const servers = await Promise.all(Array.from({ length: 10 }, () => start(database.env)));
  // Each server gets all ids in an order of its own. Even and odd servers give a plant different
  // names.
  const ids = 1_000;
  const strides = [1, 999, 7, 993, 501, 499, 333, 667, 3, 997];
  const responses = servers.map(async ({ url }, instance) => {
    const plants = Array.from({ length: ids }, (_, i) => {
      const id = (i * (strides[instance] ?? 1)) % ids;
      return { id, name: `${id} of ${instance % 2}`, tag: null };
    });
    const send = async (plant: Row): Promise<number> => {
      const response = await fetch(`${url}/plants`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${database.env.PLANT_STORE_TOKEN}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ id: plant.id, name: plant.name }),
      });
      await response.arrayBuffer();
      return response.status === 503 ? send(plant) : response.status; // A busy machine may be too late.
    };
    const responses = plants.map(async (plant) => ({ plant, status: await send(plant) }));
    return Promise.all(responses);
  });
  const all = (await Promise.all(responses)).flat();
  for (const { child } of servers) child.kill('SIGTERM');
  await Promise.all(servers.map((server) => server.ended()));

  const rows = new Map((await database.rows()).map((row) => [row.id, row]));
  expect(rows.size).toBe(ids);
  for (const { plant, status } of all) {
    expect(status).toBe(rows.get(plant.id)?.name === plant.name ? 200 : 409);
  }
});

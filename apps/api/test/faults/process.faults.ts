import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { hasPosixSignals, startAcknowledgedLoad, startProcess } from '@plant-store/test-setup';
import fc from 'fast-check';
import { describe, expect, it, type TestContext } from 'vitest';
import { faultRow } from './fault-table.ts';
import { startDatabase } from './store-under-load.ts';
import { expectStored, type Row } from './stored-plants.ts';

/** Every run has a new seed. Set `FAST_CHECK_SEED` to repeat a run. */
const seed = Number(process.env['FAST_CHECK_SEED'] ?? Date.now() % 2 ** 31);

/** A database for the server's program. */
interface Database {
  env: Record<string, string>;
  rows(): Promise<Row[]>;
}

const select = 'select id::int, name, tag from plants';

async function onPostgres(context: TestContext): Promise<Database> {
  const { url, admin } = await startDatabase({}, context);
  return { env: { DATABASE_URL: url }, rows: () => admin.unsafe<Row[]>(select) };
}

async function onEmbedded({ onTestFinished }: TestContext): Promise<Database> {
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-killed-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  return {
    env: { PLANT_STORE_DATA_DIR: directory },
    async rows() {
      const embedded = await PGlite.create(join(directory, 'postgres'));
      const { rows } = await embedded.query<Row>(select);
      await embedded.close();
      return rows;
    },
  };
}

// Windows has no signals, so a server there cannot exit with code 0 on SIGTERM.
describe.runIf(hasPosixSignals)(`the server's process (seed ${seed})`, { concurrent: true }, () => {
  it.for([
    ['Postgres', onPostgres],
    ['the embedded database', onEmbedded],
  ] as const)(
    'keeps every acknowledged plant on %s when it is killed 20 times',
    async ([, makeDatabase], context) => {
      const database = await makeDatabase(context);
      // Each server has its own token, because the server of another test may get the same port.
      const token = randomUUID();
      const start = () => startProcess({ ...database.env, PLANT_STORE_TOKEN: token });
      const moments = fc.sample(fc.integer({ min: 1, max: 300 }), { numRuns: 20, seed });
      let server = start();
      const target = { url: await server.listening(), token };
      const load = startAcknowledgedLoad(target, 32);
      for (const acknowledgements of moments) {
        await load.acknowledged(acknowledgements);
        server.child.kill('SIGKILL');
        target.url = '';
        await server.ended();
        server = start();
        target.url = await server.listening();
      }
      await load.acknowledged(100);
      await load.stop();
      server.child.kill('SIGTERM');
      expect(await server.ended()).toBe(0);

      const rows = await database.rows();
      context.task.meta.fault = faultRow(load.seen, rows);
      const { acknowledged, outcomes } = load.seen;
      expectStored(acknowledged, rows);
      expect(Object.keys(outcomes).toSorted()).toEqual(['200', 'none']);
    },
  );
});

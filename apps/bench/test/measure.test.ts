import { createDatabase } from '@plant-store/test-setup';
import { expect, inject, it } from 'vitest';
import { openBenchDatabase } from '../src/bench-database.ts';
import { byHand, type Contender, nodeHttp, pgbench } from '../src/contenders.ts';
import { FreeIds } from '../src/ids.ts';
import { findLoadGenerator } from '../src/load.ts';
import { present } from '../src/present.ts';
import { runRounds } from '../src/rounds.ts';

const open = async () => openBenchDatabase(await createDatabase(inject('postgresUrl')));

/** Measured once, on a table that is not empty, with ids that go all over it. */
async function measured(contender: Contender, instances = 1) {
  const database = await open();
  await database.fill(1000);
  const server = { createDatabase: open, stop: async () => {} };
  const generator = await findLoadGenerator();
  const bench = { server, database, generator, freeIds: new FreeIds(), progress: () => {} };
  const conditions = { connections: 4, warmUp: 1, seconds: 1, order: 'strewn', instances } as const;
  const entry = { ...contender, conditions, prepare: database.checkpoint };
  const [summary] = await runRounds(bench, { entries: [entry], rounds: 1 });
  const rows = (await database.countPlants()) - 1000;
  await database.close();
  return { summary, rows };
}

const stores = [{ ...byHand, instances: 2 }, ...(await present([pgbench]))];

it.concurrent.each(stores)('counts what $title has stored', async (contender) => {
  const { instances } = { instances: 1, ...contender };
  const { summary, rows } = await measured(contender, instances);
  expect(summary).toMatchObject({ faults: [], errors: 0, rows });
  expect(rows).toBeGreaterThan(0);
});

it.concurrent('finds out a server that answers with 200 and stores nothing', async () => {
  const server = { ...nodeHttp.server, stores: true };
  const { summary } = await measured({ ...nodeHttp, server });
  expect(summary?.acknowledged).toBeGreaterThan(0);
  expect(summary?.faults).toEqual([
    `${summary?.acknowledged} plants answered with 200 are not in the table`,
  ]);
});

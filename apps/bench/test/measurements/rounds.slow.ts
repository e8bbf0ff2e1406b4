import { createDatabase } from '@plant-store/test-setup';
import { expect, inject, it } from 'vitest';
import { availableContenders } from '../../src/contenders/available-contenders.ts';
import {
  type Contender,
  fastifyPostgres,
  nodeHttp,
  oursRest,
  pgbench,
} from '../../src/contenders/contenders.ts';
import { openBenchDatabase } from '../../src/database/bench-database.ts';
import { findLoadGenerator } from '../../src/load/find-load-generator.ts';
import { IdAllocator } from '../../src/load/id-allocator.ts';
import { runRounds } from '../../src/measurements/rounds.ts';
import { readEntry } from '../../src/modes/reading/read-entry.ts';

const newDatabase = async () => openBenchDatabase(await createDatabase(inject('postgresUrl')));

/** Measures a contender once, with scattered ids, on a table that is not empty. */
async function measureOnce(contender: Contender, instances = 1) {
  const database = await newDatabase();
  await database.fill(1000);
  const postgres = { pid: undefined, createDatabase: newDatabase, stop: async () => {} };
  const generator = await findLoadGenerator();
  const bench = { postgres, database, generator, ids: new IdAllocator(), progress: () => {} };
  const conditions = {
    connections: 4,
    warmUp: 1,
    seconds: 1,
    order: 'scattered',
    instances,
  } as const;
  const entry = { ...contender, conditions, prepare: database.checkpoint };
  const [summary] = await runRounds(bench, { entries: [entry], rounds: 1 });
  const rows = (await database.countPlants()) - 1000;
  await database.close();
  return { summary, rows };
}

const cases = [{ ...fastifyPostgres, instances: 2 }, ...(await availableContenders([pgbench]))];

it.concurrent.each(cases)('counts the plants that $title stores', async (contender) => {
  const { instances } = { instances: 1, ...contender };
  const { summary, rows } = await measureOnce(contender, instances);
  expect(summary).toMatchObject({ faults: [], errors: 0, rows });
  expect(rows).toBeGreaterThan(0);
});

it.concurrent('reports a server that answers with 200 and stores nothing', async () => {
  const server = { ...nodeHttp.server, storesPlants: true };
  const { summary } = await measureOnce({ ...nodeHttp, server });
  expect(summary?.acknowledged).toBeGreaterThan(0);
  expect(summary?.faults).toEqual([
    `${summary?.acknowledged} plants answered with 200 are not in the table`,
  ]);
});

it.concurrent('reads stored plants beside a load of creates', async () => {
  const database = await newDatabase();
  await database.fillForReads();
  const postgres = { pid: undefined, createDatabase: newDatabase, stop: async () => {} };
  const generator = await findLoadGenerator();
  const bench = { postgres, database, generator, ids: new IdAllocator(), progress: () => {} };
  const background = { format: oursRest.server.format, connections: 2 };
  const entry = readEntry(oursRest, {
    operation: 'get',
    conditions: { connections: 1, warmUp: 1, seconds: 1, background },
    prepare: database.checkpoint,
  });
  const [summary] = await runRounds(bench, { entries: entry ? [entry] : [], rounds: 1 });
  expect(summary).toMatchObject({ faults: [], errors: 0, rows: 0 });
  expect(await database.countPlants()).toBeGreaterThan(1_000_000);
  await database.close();
});

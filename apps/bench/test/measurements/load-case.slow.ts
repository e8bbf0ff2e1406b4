import { createDatabase, isInstalled } from '@plant-store/test-setup';
import { expect, inject, it } from 'vitest';
import { fastifyPostgres, nodeHttp, oursRest, pgbench } from '../../src/contenders/contenders.ts';
import { openDatabase } from '../../src/database/bench-database.ts';
import { createTables } from '../../src/database/bench-postgres.ts';
import { addMillionPlants } from '../../src/database/million-plants.ts';
import { storedPlants } from '../../src/load/ids.ts';
import { findLoadGenerator } from '../../src/load/wrk-load.ts';
import { type LoadConditions, loadCase } from '../../src/measurements/load-case.ts';
import { readsOf } from '../../src/modes/reading.ts';

async function newDatabase() {
  const url = await createDatabase(inject('postgresUrl'));
  await createTables(url);
  return openDatabase([url], [process.pid], url);
}

/** Measures a load once, and returns its figures, its faults and the number of plants in the table. */
async function measureOnce(
  conditions: Omit<LoadConditions, 'connections'>,
  database: Awaited<ReturnType<typeof newDatabase>>,
) {
  const bench = {
    postgres: { createDatabase: newDatabase, stop: async () => {} },
    database,
    generator: await findLoadGenerator(),
    progress: () => {},
  };
  const each = loadCase(bench, { warmUp: 1, seconds: 1 }, { connections: 4, ...conditions });
  const running = await each.start();
  const figures = await running.measure();
  const faults = await running.stop();
  const rows = await database.countPlants();
  await database.sql.end();
  return { title: each.title, figures, faults, rows };
}

const cases = [
  { ...oursRest, expected: 'ours, REST' },
  { ...fastifyPostgres, instancesOn: [0, 0], expected: 'Fastify + raw postgres.js, small ids' },
  ...(isInstalled('pgbench') ? [{ ...pgbench, expected: pgbench.title }] : []),
];

it.concurrent.each(cases)('counts the plants that $title stores', async (contender) => {
  const { title, figures, faults, rows } = await measureOnce(contender, await newDatabase());
  expect(title).toBe(contender.expected);
  expect(faults).toEqual([]);
  expect(rows).toBeGreaterThan(0);
  expect(figures.serverCpu > 0).toBe(contender.server !== undefined);
});

it.concurrent('reports a server that responds with 200 and stores nothing', async () => {
  const server = { ...nodeHttp.server, storesPlants: true };
  const { faults } = await measureOnce({ ...nodeHttp, server }, await newDatabase());
  expect(faults).toEqual([
    expect.stringMatching(/^[1-9]\d* acknowledged plants are not in the table$/),
  ]);
});

it.concurrent('reads stored plants while other clients create plants', async () => {
  const database = await newDatabase();
  await addMillionPlants(database.sql);
  const [reads] = readsOf(oursRest, 'get', 'get', {
    connections: 1,
    creating: 2,
    open: database.checkpointed,
  });
  const { faults, rows } = await measureOnce(reads ?? expect.fail(), database);
  expect(faults).toEqual([]);
  expect(rows).toBeGreaterThan(storedPlants);
});

it.concurrent('creates only plants with new ids in a table that already has plants', async () => {
  const database = await newDatabase();
  await addMillionPlants(database.sql, 10);
  const open = database.checkpointed;
  const { faults, rows } = await measureOnce({ ...oursRest, open }, database);
  expect(faults).toEqual([]);
  expect(rows).toBeGreaterThan(storedPlants / 10);
});

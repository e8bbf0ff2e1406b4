import { createDatabase } from '@plant-store/test-setup';
import { expect, inject, it } from 'vitest';
import { fastifyPostgres, nodeHttp } from '../../../src/contenders/contenders.ts';
import { openBenchDatabase } from '../../../src/database/bench-database.ts';
import { findLoadGenerator } from '../../../src/load/find-load-generator.ts';
import { IdAllocator } from '../../../src/load/id-allocator.ts';
import { type Candidate, runTurns } from '../../../src/modes/against/turns.ts';

const durations = { rounds: 1, warmUp: 1, turns: 2, seconds: 1 };
const candidate: Candidate = {
  name: 'rest-small',
  title: 'REST, small ids',
  version: 'before',
  server: fastifyPostgres.server,
  order: 'sequential',
};

async function openBench() {
  const createBenchDatabase = async () =>
    openBenchDatabase(await createDatabase(inject('postgresUrl')));
  return {
    postgres: { pid: undefined, createDatabase: createBenchDatabase, stop: async () => {} },
    database: await createBenchDatabase(),
    generator: await findLoadGenerator(),
    ids: new IdAllocator(),
    progress: () => {},
  };
}

it('puts two servers under load in turns, and finds the plants that one of them lost', async () => {
  const bench = await openBench();
  const losing: Candidate = { ...candidate, version: 'now', server: nodeHttp.server };
  const [before, now] = await runTurns(bench, [candidate, losing], durations);
  for (const each of [before, now]) {
    const turn = { requestsPerSecond: expect.any(Number), serverCpu: expect.any(Number) };
    expect(each?.rounds).toMatchObject([[turn, turn]]);
  }
  expect(before?.faults).toEqual([]);
  expect(now?.faults).toEqual([
    expect.stringMatching(
      /^REST, small ids, now: \d+ plants answered with 200 are not in the table$/,
    ),
  ]);
  await bench.database.close();
});

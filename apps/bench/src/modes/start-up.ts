import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accessToken } from '../contenders/access-token.ts';
import { oursRest } from '../contenders/contenders.ts';
import type { Bench } from '../measurements/bench.ts';
import { median } from '../measurements/summary.ts';
import { startServer } from '../processes/start-server.ts';
import { formatTable } from '../report/format-table.ts';
import { atMost } from '../report/goals.ts';
import type { Report } from '../report/report.ts';

/** Measures the time from the start of the process to the first reply with 200. */
export async function startUp({ database }: Bench, { quick }: { quick: boolean }): Promise<Report> {
  const times: Record<Start, number[]> = { first: [], later: [], postgres: [] };
  await database.empty();
  for (let round = 0; round < (quick ? 3 : 10); round++) {
    const directory = await mkdtemp(join(tmpdir(), 'plant-store-start-up-'));
    try {
      const embedded = { PLANT_STORE_DATA_DIR: directory };
      times.first.push(await secondsToFirstPlant(embedded));
      times.later.push(await secondsToFirstPlant(embedded));
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
    times.postgres.push(await secondsToFirstPlant({ DATABASE_URL: database.url }));
  }
  return {
    text: formatTable(
      ['start', 'seconds', '(min–max)'],
      starts.map((start) => [titles[start], ...medianAndRange(times[start])]),
    ),
    goals: [
      atMost(1, 'seconds to the first 200, Postgres', median(times.postgres)),
      atMost(1.5, 'seconds to the first 200, embedded, later starts', median(times.later)),
    ],
    faults: [],
    measured: times,
  };
}

const starts = ['first', 'later', 'postgres'] as const;

type Start = (typeof starts)[number];

const titles: Record<Start, string> = {
  first: 'embedded, first start',
  later: 'embedded, later starts',
  postgres: 'Postgres',
};

async function secondsToFirstPlant(env: Record<string, string>): Promise<number> {
  const { program, format } = oursRest.server;
  const start = performance.now();
  const server = await startServer(program, { ...env, PLANT_STORE_TOKEN: accessToken });
  try {
    const reply = await fetch(server.url + format.path, {
      method: 'POST',
      headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
      body: format.body(['{"id":1,"name":"Monstera deliciosa"}']),
    });
    const seconds = (performance.now() - start) / 1000;
    if (reply.status !== 200)
      throw new Error(`the server answered ${reply.status}: ${await reply.text()}`);
    return seconds;
  } finally {
    await server.stop();
  }
}

function medianAndRange(seconds: readonly number[]): string[] {
  const range = [Math.min(...seconds), Math.max(...seconds)].map((value) => value.toFixed(2));
  return [(median(seconds) ?? 0).toFixed(2), `(${range.join('–')})`];
}

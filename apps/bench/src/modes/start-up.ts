import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { oursRest } from '../contenders.ts';
import { atMost } from '../goals.ts';
import { token } from '../load-server.ts';
import type { Bench } from '../measure.ts';
import type { Options } from '../options.ts';
import type { Report } from '../report.ts';
import { startServer } from '../started-server.ts';
import { median } from '../summary.ts';
import { table } from '../table.ts';

/** From the start of the process to the first plant that is answered with 200. */
export async function startUp({ database }: Bench, { quick }: Options): Promise<Report> {
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
    text: table(
      ['start', 'seconds', '(min–max)'],
      starts.map((start) => [titles[start], ...describe(times[start])]),
    ),
    goals: [
      atMost(1, 'seconds to the first 200, on Postgres', median(times.postgres)),
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
  postgres: 'on Postgres',
};

async function secondsToFirstPlant(env: Record<string, string>): Promise<number> {
  const { program, wire } = oursRest.server;
  const start = performance.now();
  const server = await startServer(program, { ...env, PLANT_STORE_TOKEN: token });
  try {
    const reply = await fetch(server.url + wire.path, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: wire.body(['{"id":1,"name":"Monstera deliciosa"}']),
    });
    const seconds = (performance.now() - start) / 1000;
    if (reply.status !== 200) throw new Error(`it answered ${reply.status}: ${await reply.text()}`);
    return seconds;
  } finally {
    await server.stop();
  }
}

function describe(seconds: readonly number[]): string[] {
  const range = [Math.min(...seconds), Math.max(...seconds)].map((each) => each.toFixed(2));
  return [(median(seconds) ?? 0).toFixed(2), `(${range.join('–')})`];
}

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execute } from '../processes/execute.ts';
import type { IdOrder, IdRange, LoadResult } from './load.ts';
import type { PlantFields } from './request-format.ts';

export interface PgbenchLoad {
  readonly databaseUrl: string;
  readonly plant: PlantFields;
  readonly ids: IdRange;
  readonly clients: number;
  readonly seconds: number;
}

const insert =
  'insert into plants (id, name, tag) values (:id, :name, :tag) on conflict (id) do nothing returning id;';

// A client keeps its variables from one run of the script to the next. The clients take the ids in
// turn, so the index receives them in the same order as from one counter.
const nextId = '\\set n :n + 1\n\\set k :first + :n * :clients + :client_id\n';

const idFor: Record<IdOrder, string> = {
  sequential: '\\set id :k\n',
  // The same formulas as in ids.ts.
  int64:
    '\\set low :k % 1000000\n\\set high :k / 1000000 % 1000000\n' +
    '\\set start 1000000 + (:low * 5368787 + :high * 3141593) % 8223371\n' +
    '\\set middle (:high * 271829 + :low * 618033) % 1000000\n' +
    '\\set digits (:start * 1000000 + :middle) * 1000000 + :low * 736787 % 1000000\n' +
    '\\set id (1 - :k % 2 * 2) * :digits\n',
  scattered: '\\set id :k % 10000000 * 7368787 % 10000000 * 10000 + 1 + :k / 10000000\n',
  stored:
    '\\set row :k % 1000000 * 7368787 % 1000000\n' +
    '\\set id (1 - :row % 2 * 2) * ((1000000 + 8 * :row) * 1000000000000 + 345678901234)\n',
};

/** Whether pgbench is installed. */
export async function hasPgbench(): Promise<boolean> {
  return execute('pgbench', ['--version']).then(
    () => true,
    () => false,
  );
}

/** Sends the same insert by pgbench, as a prepared statement: the limit of this Postgres. */
export async function runPgbench(load: PgbenchLoad): Promise<LoadResult> {
  const { databaseUrl, plant, ids, clients, seconds } = load;
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-pgbench-'));
  try {
    const script = join(directory, 'insert.sql');
    await writeFile(script, nextId + idFor[ids.order] + insert);
    const variables = { n: -1, first: ids.first, clients, name: plant.name, tag: plant.tag };
    const output = await execute('pgbench', [
      '--no-vacuum',
      '--protocol=prepared',
      `--client=${clients}`,
      `--jobs=${Math.min(clients, 2)}`,
      `--time=${seconds}`,
      `--file=${script}`,
      // pgbench prints no percentiles, so it logs the times of some transactions.
      '--log',
      `--log-prefix=${join(directory, 'sample')}`,
      '--sampling-rate=0.05',
      ...Object.entries(variables).map(([name, value]) => `--define=${name}=${value}`),
      databaseUrl,
    ]);
    const replies = Number(/actually processed: (\d+)/.exec(output)?.[1]);
    const perSecond = Number(/tps = ([\d.]+)/.exec(output)?.[1]);
    const errors = Number(/failed transactions: (\d+)/.exec(output)?.[1] ?? 0);
    return { replies, errors, seconds: replies / perSecond, ...(await latencies(directory)) };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Reads percentiles in milliseconds from log lines of `client_id transaction_no time_us …`. */
async function latencies(directory: string): Promise<{ p50: number; p99: number }> {
  const logs = (await readdir(directory)).filter((name) => name.startsWith('sample'));
  const texts = await Promise.all(logs.map((name) => readFile(join(directory, name), 'utf8')));
  const times = texts
    .flatMap((text) => text.split('\n').filter(Boolean))
    .map((line) => Number(line.split(' ')[2]) / 1000)
    .sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(share * times.length)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

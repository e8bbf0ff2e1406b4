import { runPgbench } from '../load/pgbench-load.ts';
import { defaultPlant } from '../load/request-format.ts';
import type { Bench } from './bench.ts';
import type { Conditions } from './conditions.ts';
import type { LoadOutcome } from './load-outcome.ts';

/** Puts Postgres itself under load by pgbench. */
export async function runDatabaseLoad(
  { ids }: Bench,
  databaseUrl: string,
  conditions: Conditions,
): Promise<LoadOutcome> {
  const { connections: clients, plant = defaultPlant, order = 'sequential' } = conditions;
  const send = (seconds: number) =>
    runPgbench({ databaseUrl, plant, ids: ids.allocate(order), clients, seconds });
  return { warmUp: await send(conditions.warmUp), load: await send(conditions.seconds) };
}

import { runPgbench } from '../load/pgbench-load.ts';
import { defaultPlant } from '../load/request-format.ts';
import { treeCpuSeconds } from '../processes/process-stats.ts';
import type { Bench } from './bench.ts';
import type { Conditions } from './conditions.ts';
import type { LoadOutcome } from './load-outcome.ts';
import { warmUp } from './warm-up.ts';

/** Puts Postgres itself under load by pgbench. */
export async function runDatabaseLoad(
  { ids, postgres }: Bench,
  databaseUrl: string,
  conditions: Conditions,
): Promise<LoadOutcome> {
  const { connections: clients, plant = defaultPlant } = conditions;
  const { order: idOrder = ids.defaultOrder } = conditions;
  const send = (seconds: number) =>
    runPgbench({ databaseUrl, plant, ids: ids.allocate(idOrder), clients, seconds });
  const cpuSeconds = async () =>
    postgres.pid === undefined ? undefined : treeCpuSeconds(postgres.pid);

  const warmUps = await warmUp(conditions.warmUp, { send, cpuSeconds });
  const start = await cpuSeconds();
  const load = await send(conditions.seconds);
  const end = await cpuSeconds();
  const databaseCpuSeconds = start === undefined || end === undefined ? undefined : end - start;
  return { warmUps, load, idOrder, databaseCpuSeconds };
}

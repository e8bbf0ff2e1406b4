import type { Bench, Conditions, Outcome } from './measure.ts';
import { runPgbench } from './pgbench-load.ts';
import { usualPlant } from './wire.ts';

/** Puts Postgres itself under load, by pgbench. */
export async function loadDatabase(
  { freeIds }: Bench,
  databaseUrl: string,
  conditions: Conditions,
): Promise<Outcome> {
  const { connections: clients, plant = usualPlant, order = 'rising' } = conditions;
  const send = (seconds: number) =>
    runPgbench({ databaseUrl, plant, ids: freeIds.take(order), clients, seconds });
  return { warmUp: await send(conditions.warmUp), load: await send(conditions.seconds) };
}

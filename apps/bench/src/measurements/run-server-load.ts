import type { Server } from '../contenders/contenders.ts';
import type { Bench } from './bench.ts';
import type { Conditions } from './conditions.ts';
import type { LoadOutcome } from './load-outcome.ts';
import { startRunningServer } from './running-server.ts';

/** Starts a server, puts it under load and stops it. */
export async function runServerLoad(
  bench: Bench,
  databaseUrl: string,
  server: Server,
  conditions: Conditions,
): Promise<LoadOutcome> {
  const running = await startRunningServer(
    bench,
    { DATABASE_URL: databaseUrl },
    server,
    conditions,
  );
  try {
    const warmUps = await running.warmUp(conditions.warmUp);
    return { warmUps, idOrder: running.idOrder, ...(await running.load(conditions.seconds)) };
  } finally {
    await running.stop();
  }
}

import {
  type AcknowledgedLoad,
  startAcknowledgedLoad,
  startProcess,
} from '@plant-store/test-setup';
import postgres from 'postgres';
import { expect, type TestContext } from 'vitest';
import { faultRow } from './fault-table.ts';
import { expectStored, type Row } from './stored-plants.ts';

/** The server's program on a database, and clients that create plants. */
export interface StoreUnderLoad {
  load: AcknowledgedLoad;
  /**
   * Stops the server and the clients, and compares the acknowledged plants with those in the
   * database at this URL. The task is the test, which gets its row in the table of faults.
   */
  finish(databaseUrl: string, task: TestContext['task']): Promise<void>;
  /** Stops the server and the clients at once. */
  kill(): void;
}

/**
 * On any machine, only a server that hangs needs more milliseconds. The table of faults contains the real
 * milliseconds. On a quiet machine, they show that the server keeps the deadline.
 */
export const hang = 60_000;

const token = 'secret-of-the-tests';

/** Starts the server and the clients, and waits until 100 plants are acknowledged. */
export async function startStoreUnderLoad(databaseUrl: string): Promise<StoreUnderLoad> {
  const server = startProcess({ DATABASE_URL: databaseUrl, PLANT_STORE_TOKEN: token });
  const [, url = ''] = await server.printed(/REST +(\S+)\/plants/);
  const startedAt = Date.now();
  const load = startAcknowledgedLoad({ url, token });
  await load.acknowledged(100);

  return {
    load,
    kill() {
      load.stop().catch(() => {});
      server.child.kill('SIGKILL');
    },
    async finish(checkedUrl, task) {
      await load.stop();
      const seconds = (Date.now() - startedAt) / 1000;
      const sql = postgres(checkedUrl, { max: 1 });
      const rows = await sql<Row[]>`select id::int, name, tag from plants`;
      const connections = await sql`
        select from pg_stat_activity where application_name like 'plant-store process%'`;
      await sql.end();
      server.child.kill('SIGTERM');
      expect(await server.ended()).toBe(0);

      task.meta.fault = faultRow(load.seen, rows);
      const { acknowledged, outcomes, ...seen } = load.seen;
      expectStored(acknowledged, rows);
      expect(seen.slowest).toBeLessThan(hang);
      expect(seen.withoutRetryAfter).toBe(0);
      expect(Object.keys(outcomes).filter((outcome) => !isAllowed(outcome))).toEqual([]);
      expect(connections.length).toBeLessThanOrEqual(6);
      expect(countWarnings(server.output())).toBeLessThan(seconds + 2);
    },
  };
}

/** While commits are slow, the store rejects creates that it could not write in time with 50301. */
const isAllowed = (outcome: string) => ['200', '503 50300', '503 50301'].includes(outcome);

/** Counts the log lines that are warnings or worse. */
function countWarnings(log: string): number {
  return log.split('\n').filter((line) => /^\{"level":[4-6]0,/.test(line)).length;
}

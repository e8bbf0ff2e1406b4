import { startAcknowledgedLoad, startProcess } from '@plant-store/test-setup';
import postgres from 'postgres';
import { expect, onTestFinished, type TestContext, vi } from 'vitest';
import { token } from '../fixtures/program.ts';
import { faultRow } from './fault-table.ts';
import { type PlantsDatabase, startPlantsDatabase } from './plants-database.ts';
import { expectStored, type Row } from './stored-plants.ts';

/** A server that does not respond within this many milliseconds hangs, even on a slow machine. */
export const hang = 60_000;

/** Starts a database, which stops after the test. A concurrent test must pass its own test context. */
export async function startDatabase(
  options?: Parameters<typeof startPlantsDatabase>[0],
  context: Pick<TestContext, 'onTestFinished'> = { onTestFinished },
): Promise<PlantsDatabase> {
  const database = await startPlantsDatabase(options);
  context.onTestFinished(database.stop);
  return database;
}

/** Starts the server's program, and clients that create plants. Waits until 100 plants are acknowledged. */
export async function startStoreUnderLoad(
  databaseUrl: string,
  context: Pick<TestContext, 'task' | 'onTestFinished'>,
) {
  const server = startProcess({ DATABASE_URL: databaseUrl, PLANT_STORE_TOKEN: token });
  const load = startAcknowledgedLoad({ url: await server.listening(), token });
  context.onTestFinished(() => {
    load.stop().catch(() => {});
    server.child.kill('SIGKILL');
  });
  const startedAt = Date.now();
  await load.acknowledged(100);

  return {
    load,
    /**
     * Stops the server and the clients. Compares the acknowledged plants with the plants in the database at
     * this URL. Adds a row for the test to the table of faults.
     */
    async finish(checkedUrl: string): Promise<void> {
      await load.stop();
      const seconds = (Date.now() - startedAt) / 1000;
      const sql = postgres(checkedUrl, { max: 1 });
      const rows = await sql<Row[]>`select id::int, name, tag from plants`;
      const connections = () => sql`
        select from pg_stat_activity where application_name like 'plant-store process%'`;
      await vi.waitFor(async () => expect((await connections()).length).toBeLessThanOrEqual(6));
      await sql.end();
      server.child.kill('SIGTERM');
      expect(await server.ended()).toBe(0);

      context.task.meta.fault = faultRow(load.seen, rows);
      const { acknowledged, outcomes, ...seen } = load.seen;
      expectStored(acknowledged, rows);
      expect(seen.slowest).toBeLessThan(hang);
      expect(seen.withoutRetryAfter).toBe(0);
      expect(Object.keys(outcomes).filter((outcome) => !isAllowed(outcome))).toEqual([]);
      expect(countWarnings(server.output())).toBeLessThan(seconds + 2);
    },
  };
}

/** While commits are slow, a create gets 50301 when the store could not write the plant in time. */
export const isAllowed = (outcome: string) => ['200', '503 50300', '503 50301'].includes(outcome);

/** Counts the warnings and errors in a log. */
function countWarnings(log: string): number {
  return log.split('\n').filter((line) => /^\{"level":[4-6]0,/.test(line)).length;
}

import { hasPosixSignals } from '@plant-store/test-setup';
import { expect, it } from 'vitest';
import { serve, stopProgram } from '../fixtures/program.ts';
import { startCreateFlood } from './request-flood.ts';
import { hang, startDatabase } from './store-under-load.ts';
import { expectStored, type Row } from './stored-plants.ts';

/** The slow database takes this many seconds for a statement, and executes one statement at a time. */
const statementDuration = 3;

/** The number of simultaneous creates. The database cannot store the plants of all these creates in time. */
const connections = 1_200;

/** The test ends after this number of rejected creates. */
const rejections = 5_000;

// Windows has no signals, so a server there cannot exit with code 0 on SIGTERM.
it.runIf(hasPosixSignals)(
  'creates plants as fast as the database allows under overload',
  async () => {
    const database = await startDatabase();
    const server = await serve({
      DATABASE_URL: database.url,
      LOG_LEVEL: 'warn',
      NODE_OPTIONS: '--max-old-space-size=160', // A server that leaks memory would fill this heap.
    });
    await database.admin.unsafe(`
    create sequence statements;
    grant usage on sequence statements to public;
    create function slow_down() returns trigger language plpgsql as $$
      begin
        perform nextval('statements');
        perform pg_advisory_xact_lock(1);
        perform pg_sleep(${statementDuration});
        return null;
      end $$;
    create trigger slow_down before insert on plants execute function slow_down()`);

    const flood = await startCreateFlood(server, connections);
    const rejectedSoFar = async () => {
      expect((await fetch(`${server.url}/livez`)).status).toBe(200);
      return flood.outcomes['503 50301'];
    };
    await expect
      .poll(rejectedSoFar, { timeout: 240_000, interval: 500 })
      .toBeGreaterThan(rejections);
    await flood.stop();

    const {
      '200': created = 0,
      '503 50301': _rejected,
      '503 50300': late = 0,
      ...others
    } = flood.outcomes;
    expect(others).toEqual({});
    // The server is fastest when each statement stores as many plants as possible.
    const [row] = await database.admin<{ statements: number }[]>`
      select last_value::int as statements from statements`;
    expect(created + late).toBeGreaterThan(64 * (row?.statements ?? Number.NaN));
    console.log(`overload: ${JSON.stringify(flood.outcomes)}`);
    expect(flood.withoutRetryAfter).toBe(0);

    expect(Math.max(...flood.times)).toBeLessThan(hang);
    expectStored(
      flood.acknowledged,
      await database.admin<Row[]>`select id::int, name, tag from plants`,
    );

    expect(await stopProgram(server)).toBe(0);
  },
);

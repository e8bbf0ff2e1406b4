import { setTimeout } from 'node:timers/promises';
import { hasPosixSignals } from '@plant-store/test-setup';
import { expect, it } from 'vitest';
import { serve, stopProgram } from '../fixtures/program.ts';
import { percentile99 } from './connections.ts';
import { startCreateFlood } from './request-flood.ts';
import { hang, startDatabase } from './store-under-load.ts';
import { expectStored, type Row } from './stored-plants.ts';

/** The slow database takes this many seconds for a statement, and executes one statement at a time. */
const statementDuration = 4;

/** The number of creates that wait at the same time. The database cannot store all their plants in time. */
const connections = 1_200;

/** The duration of the overload, in milliseconds. */
const duration = 60_000;

/** The pause between two checks of the server, in milliseconds. */
const pause = 500;

// Windows has no signals, so a server there cannot exit with code 0 on SIGTERM.
it.runIf(hasPosixSignals)(
  'creates plants as fast as the database allows during a minute of overload',
  async () => {
    const database = await startDatabase();
    const settings = { PLANT_STORE_METRICS_PORT: '0', LOG_LEVEL: 'warn' };
    const server = await serve({ DATABASE_URL: database.url, ...settings });
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

    /** Checks the server for half of the duration. Resolves with the highest memory use. */
    const watch = async () => {
      let memory = 0;
      for (const startedAt = Date.now(); Date.now() - startedAt < duration / 2; ) {
        const signal = AbortSignal.timeout(hang);
        expect((await fetch(`${server.url}/livez`, { signal })).status).toBe(200);
        const { value } = await server.metrics();
        memory = Math.max(memory, value('process_resident_memory_bytes'));
        await setTimeout(pause);
      }
      return memory;
    };
    const flood = await startCreateFlood(server, connections);
    const memoryInFirstHalf = await watch();
    const { '503 50300': lateInFirstHalf = 0 } = flood.outcomes;
    const memoryInSecondHalf = await watch();
    await flood.stop();

    const {
      '200': created = 0,
      '503 50301': rejected = 0,
      '503 50300': late = 0,
      ...others
    } = flood.outcomes;
    expect(others).toEqual({});
    expect(rejected).toBeGreaterThan(created);
    // Each statement must be nearly full, because full statements store the most plants.
    const [row] = await database.admin<{ statements: number }[]>`
      select last_value::int as statements from statements`;
    expect(created + late).toBeGreaterThan(64 * (row?.statements ?? Number.NaN));
    // After the first half, the server knows the speed of the database. It must reject most creates that
    // would be late.
    expect(late - lateInFirstHalf).toBeLessThan(rejected / 10);
    expect(flood.withoutRetryAfter).toBe(0);

    expect(percentile99(flood.times)).toBeLessThan(hang);
    // In the first half, each new connection takes memory. In the second half, the memory must not grow.
    expect(memoryInSecondHalf).toBeLessThan(1.25 * memoryInFirstHalf);
    expectStored(
      flood.acknowledged,
      await database.admin<Row[]>`select id::int, name, tag from plants`,
    );

    expect(await stopProgram(server)).toBe(0);
  },
);

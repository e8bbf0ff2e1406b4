import { setTimeout } from 'node:timers/promises';
import { startProcess } from '@plant-store/test-setup';
import { expect, it, onTestFinished } from 'vitest';
import { readPrometheusText } from '../fixtures/prometheus-text.ts';
import { startFlood } from './flood.ts';
import { startPlantsDatabase } from './plants-database.ts';
import { slowest } from './store-under-load.ts';
import { expectStored, type Row } from './stored-plants.ts';

const token = 'secret';

/** Seconds that the slow database spends on a statement, one after the other, each of so many plants. */
const statement = 0.7;
const capacity = 128 / statement;

/** More creates than it can answer in time. */
const connections = 1_200;

/** Milliseconds for which there are too many. */
const duration = 60_000;

/** Milliseconds between two looks at the server. */
const pause = 500;

it('creates as much as it can for a minute in which ten times as much is asked for', {
  timeout: 2 * duration,
}, async () => {
  const database = await startPlantsDatabase();
  onTestFinished(database.stop);
  const server = startProcess({
    DATABASE_URL: database.url,
    PLANT_STORE_TOKEN: token,
    PLANT_STORE_METRICS_PORT: '0',
    LOG_LEVEL: 'warn',
  });
  onTestFinished(() => void server.child.kill('SIGKILL'));
  const [, url = ''] = await server.printed(/REST +(\S+)\/plants/);
  const [, metricsUrl = ''] = await server.printed(/Metrics +(\S+)/);
  await database.admin.unsafe(`
    create function slow_down() returns trigger language plpgsql as $$
      begin
        perform pg_advisory_xact_lock(1);
        perform pg_sleep(${statement});
        return null;
      end $$;
    create trigger slow_down before insert on plants execute function slow_down()`);

  const ask = (of: string) => fetch(of, { signal: AbortSignal.timeout(slowest) });
  /** Looks at the server for half of the time; resolves with the most memory that it had, in bytes. */
  const watch = async () => {
    let memory = 0;
    for (const startedAt = Date.now(); Date.now() - startedAt < duration / 2; ) {
      expect((await ask(`${url}/livez`)).status).toBe(200);
      const metrics = readPrometheusText(await (await ask(metricsUrl)).text());
      memory = Math.max(memory, metrics.value('process_resident_memory_bytes'));
      await setTimeout(pause);
    }
    return memory;
  };
  const flood = await startFlood({ url, token }, connections);
  const startedAt = Date.now();
  const memoryAtFirst = await watch();
  const { '503 50300': lateAtFirst = 0 } = flood.answers;
  const memory = await watch();
  await flood.stop();
  const seconds = (Date.now() - startedAt) / 1000;

  const {
    '200': created = 0,
    '503 50301': refused = 0,
    '503 50300': late = 0,
    ...others
  } = flood.answers;
  expect(others).toEqual({});
  expect(created + refused + late).toBeGreaterThan(10 * capacity * seconds);
  expect(created).toBeGreaterThan((capacity * seconds) / 2);
  // Once it is known how slow the database is, what is not refused is answered in time.
  expect(late).toBe(lateAtFirst);
  expect(flood.withoutRetryAfter).toBe(0);

  const p99 = flood.times.toSorted((a, b) => a - b)[Math.floor(flood.times.length * 0.99)];
  expect(p99).toBeLessThan(slowest);
  // It has grown to what so many connections take, and grows no more.
  expect(memory).toBeLessThan(1.25 * memoryAtFirst);
  expectStored(
    flood.acknowledged,
    await database.admin<Row[]>`select id::int, name, tag from plants`,
  );

  server.child.kill('SIGTERM');
  expect(await server.ended()).toBe(0);
});

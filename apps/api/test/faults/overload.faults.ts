import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { startProcess } from '@plant-store/test-setup';
import { expect, it, onTestFinished } from 'vitest';
import { nameOf, startFlood } from './flood.ts';
import { startPlantsDatabase } from './plants-database.ts';
import { slowest } from './store-under-load.ts';
import { expectStored, type Row } from './stored-plants.ts';

const token = 'secret';

/** Milliseconds between two looks at the server. */
const pause = 500;

/** Bytes of memory that a process holds, where the machine tells. */
async function memoryOf(pid = 0): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
}

/** Seconds that a statement of the slow database takes, and the plants that it can take in a second. */
const statement = 1.6;
const capacity = (4 * 128) / statement;

const connections = 2_000;

it('creates as much as it can for a minute in which ten times as much is asked for', {
  timeout: 120_000,
}, async () => {
  const database = await startPlantsDatabase();
  onTestFinished(database.stop);
  const server = startProcess({
    DATABASE_URL: database.url,
    PLANT_STORE_TOKEN: token,
    LOG_LEVEL: 'warn',
  });
  onTestFinished(() => void server.child.kill('SIGKILL'));
  const [, url = ''] = await server.printed(/REST +(\S+)\/plants/);
  await database.admin.unsafe(`
    create function slow_down() returns trigger language plpgsql as $$
      begin perform pg_sleep(${statement}); return null; end $$;
    create trigger slow_down before insert on plants execute function slow_down()`);

  const flood = await startFlood({ url, token }, connections);
  const live: number[] = [];
  const memory: number[] = [];
  const startedAt = Date.now();
  while (Date.now() - startedAt < 60_000) {
    const askedAt = Date.now();
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    live.push(Date.now() - askedAt);
    memory.push(await memoryOf(server.child.pid));
    await setTimeout(pause);
  }
  await flood.stop();
  const seconds = (Date.now() - startedAt) / 1000;

  const asked = Object.values(flood.answers).reduce((sum, count) => sum + count, 0);
  const p99 = flood.times.toSorted((a, b) => a - b)[Math.floor(flood.times.length * 0.99)];
  const half = memory.length >> 1;
  const [first, second] = [memory.slice(0, half), memory.slice(half)].map((m) => Math.max(...m));
  const { 200: inTime = 0, '503 50301': refused = 0, '503 50300': late = 0 } = flood.answers;
  expect(inTime + refused + late).toBe(asked);
  // Only what came before it was known how slow the database is: one on each connection at most.
  expect(late).toBeLessThan(connections);
  expect(asked / seconds).toBeGreaterThan(10 * (flood.created.length / seconds));
  expect(flood.created.length / seconds).toBeGreaterThan(capacity / 2);
  expect(p99).toBeLessThan(slowest);
  expect(Math.max(...live)).toBeLessThan(slowest);
  expect(second).toBeLessThan((first ?? 0) * 1.25 + 1);

  const rows = await database.admin<Row[]>`select id::int, name, tag from plants`;
  expectStored(
    flood.created.map((id) => ({ id, name: nameOf(id) })),
    rows,
  );
  server.child.kill('SIGTERM');
  expect(await server.ended()).toBe(0);
});

import { setTimeout } from 'node:timers/promises';
import { hasSlowFlush, makeSlowFlush } from '@plant-store/test-setup';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { serve } from '../fixtures/program.ts';
import { post } from '../fixtures/surfaces.ts';
import { type PlantsDatabase, startPlantsDatabase } from './plants-database.ts';

// On a slow disk, each commit takes seconds. Nothing can cancel a commit that waits for the disk.
const test = it.runIf(hasSlowFlush);

const disk = hasSlowFlush ? makeSlowFlush() : undefined;
const seconds = 10;
/** A create that has no response after this number of milliseconds gets an error. */
const deadline = 5_000;
let database: PlantsDatabase;

beforeAll(async () => {
  database = await startPlantsDatabase(disk);
});

afterAll(() => database.stop());

/** A create and its response. */
interface Sent {
  readonly id: number;
  readonly status: number;
  /** The time when the response arrived. */
  readonly at: number;
  /** The time between the request and the response. */
  readonly milliseconds: number;
}

let lastId = 0;

/** Each second, sends `rate` requests that create plants. Each flush takes `flush` milliseconds. */
async function createDuring(flush: number, rate: number): Promise<Sent[]> {
  const server = await serve({ DATABASE_URL: database.url });
  const create = async (): Promise<Sent> => {
    const id = ++lastId;
    const sentAt = performance.now();
    const response = await post(server, '/plants', JSON.stringify({ id, name: `plant ${id}` }));
    await response.arrayBuffer();
    const at = performance.now();
    return { id, status: response.status, at, milliseconds: at - sentAt };
  };
  await create();
  disk?.set(flush);
  onTestFinished(() => disk?.cut());
  const startedAt = performance.now();
  const creates: Promise<Sent>[] = [];
  while (creates.length < rate * seconds) {
    const due = Math.min(((performance.now() - startedAt) * rate) / 1000, rate * seconds);
    while (creates.length < due) creates.push(create());
    await setTimeout(5);
  }
  const sent = await Promise.all(creates);
  disk?.cut();
  return sent;
}

const cases = [
  { flush: 1_500, rate: 40 },
  { flush: 1_500, rate: 640 },
  { flush: 3_000, rate: 40 },
];

for (const { flush, rate } of cases)
  test(`flushes that take ${flush / 1000} s, at ${rate} creates a second`, async ({ task }) => {
    const sent = await createDuring(flush, rate);
    const accepted = sent.filter(({ status }) => status === 200);
    await expect
      .poll(
        () => database.admin`
      select from pg_stat_activity where application_name like 'plant-store%' and state = 'active'`,
      )
      .toEqual([]);
    const rows = await database.admin<{ id: number }[]>`select id::int from plants`;
    const stored = new Set(rows.map(({ id }) => id));
    const missing = accepted.filter(({ id }) => !stored.has(id));
    const times = accepted.map(({ at }) => at).sort((a, b) => a - b);
    // All creates of one flush get their responses at the same time.
    const longestGap = Math.max(...times.slice(1).map((at, i) => at - (times[i] ?? 0)));
    task.meta.fault = {
      longestGap,
      slowest: Math.max(...sent.map(({ milliseconds }) => milliseconds)),
      acknowledged: accepted.length,
      missing: missing.length,
    };
    expect(missing).toEqual([]);
    const unknown = sent.filter(({ id, status }) => status !== 200 && stored.has(id));
    const share = (some: Sent[]) => (some.length / sent.length).toFixed(3);
    console.log(`${share(accepted)} got 200, ${share(unknown)} got an error and are stored`);
    expect(unknown.filter(({ milliseconds }) => milliseconds < deadline)).toEqual([]);
    expect(accepted.length).toBeGreaterThan(0);
    // A create may wait for two flushes: for the running flush, and then for the flush that stores the plant.
    // On a busy machine, both flushes can take longer.
    if (2 * longestGap < 0.8 * deadline) expect(accepted).toHaveLength(sent.length);
  });

import {
  hasSlowFlush,
  makeSlowFlush,
  startFaultProxy,
  startPostgres,
} from '@plant-store/test-setup';
import postgres from 'postgres';
import { beforeAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { deadlineIn } from '../../src/database/deadline.ts';
import { inspectDatabase } from '../../src/inspection/inspect-database.ts';
import { openPlantStore, type PlantStore } from '../../src/plant-store.ts';

// The tests delay a flush of the disk. Postgres cannot cancel a flush. The delay needs a compiler.
const test = it.runIf(hasSlowFlush);

const disk = hasSlowFlush ? makeSlowFlush() : { env: {}, set: () => {}, cut: () => {} };
const long = 60_000;
let url: string;
let admin: postgres.Sql;
let store: PlantStore;

beforeAll(async () => {
  if (!hasSlowFlush) return;
  const server = await startPostgres({}, { env: disk.env });
  url = server.url;
  admin = postgres(url, { max: 1 });
  return () => admin.end().then(server.stop);
});

let lastId = 0n;
const createPlant = (deadline = deadlineIn(long)) => {
  const id = ++lastId;
  return store.create({ id, name: `plant ${id}` }, { deadline });
};
const isStored = async (id: bigint) => (await store.get(id)) !== undefined;
const sessions = () => admin`
  select pid from pg_stat_activity where application_name like 'plant-store%' order by pid`;
const inFlush = () => admin`
  select pid from pg_stat_activity
  where wait_event = 'WalSync' and application_name like 'plant-store%'`;

beforeEach(async () => {
  if (!hasSlowFlush) return;
  store = await openPlantStore({ databaseUrl: url });
  onTestFinished(async () => {
    disk.cut();
    await store.close();
  });
  await createPlant();
});

test('a create waits for a slow commit even when another create in the statement is already late', async () => {
  disk.set(long);
  const running = createPlant();
  await vi.waitFor(async () => expect((await inFlush()).length).toBeGreaterThan(0));
  const late = createPlant(deadlineIn(4_000));
  const waiting = createPlant();
  disk.cut();
  await running;
  disk.set(long);
  await expect(late).rejects.toMatchObject({ code: 50300 });
  await vi.waitFor(() => expect(store.pending().unsettled).toBe(1));
  const committing = await inFlush();
  expect(committing).toHaveLength(1);
  disk.cut();
  expect(await waiting).toEqual({ name: `plant ${lastId}` });
  await vi.waitFor(() => expect(store.pending().unsettled).toBe(0));
  expect(await sessions()).toEqual(expect.arrayContaining([...committing]));
});

test.each([
  ['create', () => createPlant(deadlineIn(2_000)), true],
  ['delete', () => store.delete(++lastId, { deadline: deadlineIn(2_000) }), false],
])(
  'a %s with a slow commit is counted, logged and named until the commit ends',
  async (_, write, isCreate) => {
    const id = lastId + 1n;
    if (!isCreate) await store.create({ id, name: 'to delete' });
    const warnings: string[] = [];
    store.events.on('warning', (message) => warnings.push(message));
    disk.set(long);
    await expect(write()).rejects.toMatchObject({ code: 50300 });
    await vi.waitFor(() => expect(store.pending().unsettled).toBe(1));
    expect(await isStored(id)).toBe(!isCreate);
    await vi.waitFor(() => expect(warnings).toHaveLength(1));
    expect(warnings[0]).toContain('The commit may still succeed');
    await vi.waitFor(
      async () => {
        const state = await inspectDatabase({ databaseUrl: url });
        expect(state?.lateCommits).toMatchObject([
          { pid: expect.any(Number), waitsFor: 'WalSync' },
        ]);
      },
      { interval: 500 },
    );
    disk.cut();
    await vi.waitFor(() => expect(store.pending().unsettled).toBe(0));
    expect(await isStored(id)).toBe(isCreate);
    expect(warnings).toHaveLength(1);
  },
);

test('the store counts a late commit as unsettled even when the network is slow', async () => {
  const network = await startFaultProxy(url);
  const far = await openPlantStore({ databaseUrl: network.url });
  onTestFinished(async () => {
    disk.cut();
    await far.close();
    network.close();
  });
  await far.create({ id: ++lastId, name: 'before' });
  network.delay = 75;
  disk.set(long);
  const late = far.create({ id: ++lastId, name: 'late' }, { deadline: deadlineIn(2_000) });
  await expect(late).rejects.toMatchObject({ code: 50300 });
  await vi.waitFor(() => expect(far.pending().unsettled).toBe(1));
  disk.cut();
  await vi.waitFor(() => expect(far.pending().unsettled).toBe(0));
});

test('a repeated create waits for the late commit of the first create', async () => {
  const plant = { id: ++lastId, name: 'late' };
  disk.set(long);
  await expect(store.create(plant, { deadline: deadlineIn(2_000) })).rejects.toMatchObject({
    code: 50300,
    message: expect.stringContaining('may still be stored'),
  });
  const again = store.create(plant, { deadline: deadlineIn(long) });
  disk.cut();
  expect(await again).toEqual({ name: 'late' });
  expect(await isStored(plant.id)).toBe(true);
});

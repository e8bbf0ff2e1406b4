import { createDatabase } from '@plant-store/test-setup';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, inject, it, onTestFinished, vi } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { openPostgres } from '../../src/database/postgres/postgres-database.ts';
import { openPlantStore } from '../../src/plant-store.ts';
import { PendingCreate } from '../../src/plants/write/pending-create.ts';
import { createPlantTable, type PlantTable } from '../../src/plants/write/plant-table.ts';
import { SendTurn } from '../../src/plants/write/send-turn.ts';
import { writeBatch } from '../../src/plants/write/write-batch.ts';
import { WriteBatcher } from '../../src/plants/write/write-batcher.ts';

let sql: postgres.Sql;
let database: Database;
let table: PlantTable;

beforeAll(async () => {
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  database = await openPostgres(databaseUrl);
  sql = postgres(databaseUrl);
  await sql`alter table plants add constraint no_poison check (name <> 'poison')`;
  table = createPlantTable(database);
});

afterAll(() => Promise.all([sql.end(), database.close()]));

const plantsFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({ id: BigInt(first + i), name: `plant ${first + i}` }));

/** The real table, which also records the number of plants in each insert statement. */
function recordingTable(sizes: number[]): PlantTable {
  return {
    ...table,
    insert: (batch) => {
      sizes.push(batch.length);
      return table.insert(batch);
    },
  };
}

/** A table whose insert statements never return. */
function hangingTable(): PlantTable {
  return { ...table, insert: () => new Promise(() => {}) };
}

/** A table whose statements take so many milliseconds of a fake clock. */
function tableWithLatency(latencyOf: (statement: number) => number): PlantTable {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let statements = 0;
  return {
    ...table,
    insert: async (batch) => {
      await new Promise((resolve) => setTimeout(resolve, latencyOf(++statements)));
      return new Set(batch.map(({ id }) => id));
    },
  };
}

/** Creates plants at once and counts their outcomes: `created`, or the kind of the error. */
async function countOutcomes(writes: WriteBatcher, first: number, count: number) {
  const creates = plantsFrom(first, count).map((plant) => writes.create(plant));
  const outcomes: Record<string, number> = { created: 0 };
  for (const outcome of await Promise.allSettled(creates)) {
    const kind = outcome.status === 'fulfilled' ? 'created' : outcome.reason.kind;
    outcomes[kind] = (outcomes[kind] ?? 0) + 1;
  }
  return outcomes;
}

it('sends the first create at once and batches those that arrive meanwhile', async () => {
  const sizes: number[] = [];
  const writes = new WriteBatcher({ table: recordingTable(sizes), maxInFlight: 1, maxBatch: 100 });
  await Promise.all(plantsFrom(1000, 250).map((plant) => writes.create(plant)));
  expect(sizes).toEqual([1, 100, 100, 49]);
});

it('sends a second statement when it is full or the first one is slow', async () => {
  const sizes: number[] = [];
  const slowInsert = Promise.withResolvers<Set<bigint>>();
  const insert: PlantTable['insert'] = (batch) => {
    sizes.push(batch.length);
    return sizes.length === 1 ? slowInsert.promise : table.insert(batch);
  };
  const writes = new WriteBatcher({
    table: { ...table, insert },
    maxInFlight: 2,
    maxBatch: 10,
    slowAfter: 20,
  });
  const [slow, ...others] = plantsFrom(8000, 16).map((plant) => writes.create(plant));
  await Promise.all(others);
  expect(sizes).toEqual([1, 10, 5]);
  slowInsert.resolve(new Set([8000n]));
  await expect(slow).resolves.toEqual({ name: 'plant 8000' });
});

it('says that the table does not keep a plant that a trigger drops', async () => {
  await sql`
    create function drop_plant() returns trigger language plpgsql as
      $$ begin if new.name = 'dropped' then return null; end if; return new; end $$`;
  await sql`create trigger drop_plant before insert on plants for each row execute function drop_plant()`;
  const writes = new WriteBatcher({ table, maxInFlight: 2 });
  const dropped = writes.create({ id: 2_500n, name: 'dropped' });
  const kept = writes.create({ id: 2_501n, name: 'kept' });
  await expect(dropped).rejects.toMatchObject({
    code: 50300,
    message: 'the table does not keep this plant: nothing was written, tell the operator',
  });
  expect(await kept).toEqual({ name: 'kept' });
  await sql`drop trigger drop_plant on plants`;
});

it('creates the other plants of a batch when the database rejects some', async () => {
  const writes = new WriteBatcher({ table, maxInFlight: 2 });
  const plants = plantsFrom(2000, 100);
  const poisoned = plants.map((plant, i) => (i % 30 === 7 ? { ...plant, name: 'poison' } : plant));
  const outcomes = await Promise.allSettled(poisoned.map((plant) => writes.create(plant)));
  const message =
    'the table does not allow this plant (SQLSTATE 23514): nothing was written, tell the operator';

  for (const [i, outcome] of outcomes.entries()) {
    if (i % 30 === 7) expect(outcome).toMatchObject({ reason: { code: 50300, message } });
    else expect(outcome).toEqual({ status: 'fulfilled', value: { name: `plant ${2000 + i}` } });
  }
  const [row] = await sql`select count(*)::int from plants where id between 2000 and 2099`;
  expect(row).toEqual({ count: 96 });
});

it('sends ids in ascending order, so that overlapping batches never deadlock', async () => {
  const batches: bigint[][] = [];
  const recording: PlantTable = {
    ...table,
    insert: (batch) => {
      batches.push(batch.map(({ id }) => id));
      return table.insert(batch);
    },
  };
  const writers = [1, 2, 3, 4].map(() => new WriteBatcher({ table: recording, maxInFlight: 2 }));
  const plants = plantsFrom(3000, 300);
  const orders = [plants, plants.toReversed(), plants.toSpliced(0, 150), plants.toReversed()];
  const creates = orders.flatMap((order, i) => order.map((plant) => writers[i]?.create(plant)));
  await expect(Promise.all(creates)).resolves.toHaveLength(1050);
  expect(Math.max(...batches.map((ids) => ids.length))).toBeGreaterThan(100);
  for (const ids of batches) expect(ids).toEqual(ids.toSorted((a, b) => (a < b ? -1 : 1)));
});

it('rejects creates beyond the queue at once', async () => {
  const writes = new WriteBatcher({
    table: hangingTable(),
    maxInFlight: 1,
    maxQueue: 5,
    timeout: 50,
  });
  const creates = plantsFrom(4000, 7).map((plant) => writes.create(plant));
  expect(writes.pending).toEqual({ waiting: 5, inFlight: 1 });
  await expect(creates[6]).rejects.toMatchObject({
    kind: 'overloaded',
    code: 50301,
    message: '5 creates are waiting already: nothing was written, send the plant again later',
  });
  const outcomes = await Promise.allSettled(creates.slice(0, 6));
  const message = 'the database did not answer: the plant may or may not be stored, send it again';
  for (const outcome of outcomes)
    expect(outcome).toMatchObject({ reason: { code: 50300, message } });
  expect(writes.pending).toEqual({ waiting: 0, inFlight: 1 });
});

it('accepts no create once it is drained', async () => {
  const writes = new WriteBatcher({ table, maxInFlight: 1 });
  await writes.drained();
  await expect(writes.create({ id: 4100n, name: 'x' })).rejects.toMatchObject({
    kind: 'shuttingDown',
    message: 'the store is closing: nothing was written, send the plant again later',
  });
});

it('rejects creates at once that would miss their deadline, and creates the others in time', async () => {
  const writes = new WriteBatcher({
    table: tableWithLatency(() => 500),
    maxInFlight: 1,
    maxBatch: 10,
  });
  for (let i = 0; i < 30; i++) {
    void countOutcomes(writes, 20_000 + i * 10, 10);
    await vi.advanceTimersByTimeAsync(500);
  }
  const overload = countOutcomes(writes, 9000, 1_000);
  await vi.advanceTimersByTimeAsync(5_000);
  const { created = 0, overloaded = 0, ...others } = await overload;
  expect(others).toEqual({});
  expect(created + overloaded).toBe(1_000);
  // The deadline leaves time for nine statements of ten plants, less a margin.
  expect(created).toBeGreaterThan(40);
  expect(created).toBeLessThan(80);
});

it('accepts as many creates as two statements at a time can write before the deadline', async () => {
  const writes = new WriteBatcher({
    table: tableWithLatency(() => 400),
    maxInFlight: 2,
    maxBatch: 10,
  });
  for (let i = 0; i < 30; i++) {
    void countOutcomes(writes, 20_000 + i * 20, 20);
    await vi.advanceTimersByTimeAsync(400);
  }
  const overload = countOutcomes(writes, 9000, 1_000);
  await vi.advanceTimersByTimeAsync(5_000);
  // Creates are accepted while the statements ahead, two at a time, fit into 80 % of five seconds.
  // So 180 may wait, beside ten that are sent at once.
  expect(await overload).toEqual({ created: 190, overloaded: 810 });
});

it.each([
  { latencies: [800], average: 100, accepted: 390 },
  { latencies: [800, 1_700], average: 300, accepted: 120 },
])(
  'expects $average ms of a statement after $latencies ms, because each counts an eighth',
  async ({ latencies, accepted }) => {
    const writes = new WriteBatcher({
      table: tableWithLatency((statement) => latencies[statement - 1] ?? 10_000),
      maxInFlight: 1,
      maxBatch: 10,
    });
    void countOutcomes(writes, 40_000, 31);
    for (const latency of latencies) await vi.advanceTimersByTimeAsync(latency);
    void countOutcomes(writes, 41_000, 1_000);
    expect(writes.pending.waiting).toBe(accepted);
    await vi.advanceTimersByTimeAsync(10_000);
  },
);

it('leaves no timer behind when every create is answered', async () => {
  const writes = new WriteBatcher({ table: tableWithLatency(() => 10), maxInFlight: 2 });
  const outcomes = countOutcomes(writes, 12_000, 200);
  await vi.advanceTimersByTimeAsync(20);
  expect(await outcomes).toEqual({ created: 200 });
  expect(vi.getTimerCount()).toBe(0);
});

it('reports the size and the milliseconds of each committed statement', async () => {
  const writes = new WriteBatcher({ table: tableWithLatency(() => 30), maxInFlight: 1 });
  const committed: unknown[] = [];
  writes.events.on('batch', (batch) => committed.push(batch));
  void countOutcomes(writes, 13_000, 3);
  await vi.advanceTimersByTimeAsync(60);
  expect(committed).toEqual([
    { size: 1, milliseconds: 30 },
    { size: 2, milliseconds: 30 },
  ]);
});

it('says that nothing was written only when it was the insert that the database rolled back', async () => {
  const diskFull = Object.assign(new Error('disk full'), { severity: 'ERROR', code: '53100' });
  const full = new WriteBatcher({
    table: { ...table, insert: () => Promise.reject(diskFull) },
    maxInFlight: 1,
  });
  await expect(full.create({ id: 15_000n, name: 'x' })).rejects.toMatchObject({
    message: expect.stringContaining('(SQLSTATE 53100): nothing was written'),
    cause: diskFull,
  });
  const taken = new WriteBatcher({
    table: {
      ...table,
      insert: async () => new Set<bigint>(),
      find: () => Promise.reject(diskFull),
    },
    maxInFlight: 1,
  });
  await expect(taken.create({ id: 15_000n, name: 'x' })).rejects.toMatchObject({
    message: expect.stringContaining('may or may not be stored'),
    cause: diskFull,
  });
});

it('sends one waiting create when the statement before it is slow', async () => {
  const slow = Promise.withResolvers<Set<bigint>>();
  let statements = 0;
  const insert: PlantTable['insert'] = (batch) =>
    ++statements === 1 ? slow.promise : table.insert(batch);
  const writes = new WriteBatcher({ table: { ...table, insert }, maxInFlight: 2, slowAfter: 20 });
  const first = writes.create({ id: 16_000n, name: 'x' });
  await expect(writes.create({ id: 16_001n, name: 'x' })).resolves.toEqual({ name: 'x' });
  slow.resolve(new Set([16_000n]));
  await expect(first).resolves.toEqual({ name: 'x' });
});

it('inserts no plant whose create was answered at its deadline', async () => {
  const now = performance.now();
  const pending = (id: bigint, deadline: number) =>
    new PendingCreate({ id, name: 'x' }, deadline, () => {});
  const [late, open] = [pending(17_000n, now + 1), pending(17_001n, now + 60_000)];
  await expect(late.outcome).rejects.toMatchObject({ code: 50300 });
  const sizes: number[] = [];
  await writeBatch(recordingTable(sizes), [late, open], () => {});
  await expect(open.outcome).resolves.toEqual({ name: 'x' });
  expect(sizes).toEqual([1]);
  expect(await table.find([17_000n, 17_001n])).toEqual([{ id: 17_001n, name: 'x' }]);
});

it('deletes a plant, and says whether there was one', async () => {
  await sql`insert into plants (id, name) values (18000, 'x')`;
  expect(await table.delete(18_000n)).toBe(true);
  expect(await table.delete(18_000n)).toBe(false);
  expect(await table.find([18_000n])).toEqual([]);
});

it('reads no plant back when every id was free', async () => {
  const find = vi.fn(table.find);
  const writes = new WriteBatcher({ table: { ...table, find }, maxInFlight: 1 });
  await Promise.all(plantsFrom(14_000, 3).map((plant) => writes.create(plant)));
  expect(find).not.toHaveBeenCalled();
});

it('rejects no creates after a statement that hung', async () => {
  const table = tableWithLatency((statement) => (statement === 1 ? 4_900 : 5));
  const writes = new WriteBatcher({ table, maxInFlight: 1 });
  const first = countOutcomes(writes, 30_000, 512);
  await vi.advanceTimersByTimeAsync(4_900);
  const next = countOutcomes(writes, 31_000, 128);
  await vi.advanceTimersByTimeAsync(100);
  expect([await first, await next]).toEqual([{ created: 512 }, { created: 128 }]);
});

it('rejects no more creates when a slow database has become fast', async () => {
  let latency = 1_000;
  const writes = new WriteBatcher({ table: tableWithLatency(() => latency), maxInFlight: 1 });
  const overload = countOutcomes(writes, 40_000, 5_000);
  await vi.advanceTimersByTimeAsync(3_500);
  expect(await countOutcomes(writes, 50_000, 1)).toEqual({ created: 0, overloaded: 1 });
  await vi.advanceTimersByTimeAsync(5_000);
  await overload;

  latency = 5;
  const after = countOutcomes(writes, 60_000, 1_000);
  await vi.advanceTimersByTimeAsync(100);
  expect(await after).toEqual({ created: 1_000 });
});

it('fills its statements even when each takes half of the deadline', async () => {
  const sizes: number[] = [];
  const writes = new WriteBatcher({ table: tableWithLatency(() => 2_400), maxInFlight: 1 });
  writes.events.on('batch', ({ size }) => sizes.push(size));
  for (let i = 0; i < 50; i++) {
    void countOutcomes(writes, 70_000 + i * 200, 200);
    await vi.advanceTimersByTimeAsync(1_200);
  }
  // The first create is sent at once, alone.
  expect(sizes).toEqual([1, ...sizes.slice(1).fill(128)]);
  expect(sizes.length).toBeGreaterThan(20);
});

it('sends no statement while those in flight hang, and continues when one returns', async () => {
  const hung = Promise.withResolvers<Set<bigint>>();
  let statements = 0;
  const hangingAtFirst: PlantTable = {
    ...table,
    insert: (batch) => (++statements === 1 ? hung.promise : table.insert(batch)),
  };
  const writes = new WriteBatcher({
    table: hangingAtFirst,
    maxInFlight: 1,
    maxQueue: 2,
    timeout: 50,
  });
  const late = await Promise.allSettled(plantsFrom(5000, 3).map((plant) => writes.create(plant)));
  for (const outcome of late) expect(outcome).toMatchObject({ reason: { code: 50300 } });

  // The creates that timed out have left the queue, so another one is accepted and times out too.
  await expect(writes.create({ id: 5003n, name: 'x' })).rejects.toMatchObject({ code: 50300 });
  expect(statements).toBe(1);

  hung.resolve(new Set());
  await hung.promise;
  const inTenSeconds = { deadline: performance.now() + 10_000 };
  await expect(writes.create({ id: 5004n, name: 'x' }, inTenSeconds)).resolves.toEqual({
    name: 'x',
  });
});

it('is drained at the deadline even when a statement never returns', async () => {
  const writes = new WriteBatcher({ table: hangingTable(), maxInFlight: 1, timeout: 20 });
  const create = writes.create({ id: 7000n, name: 'x' });
  await Promise.all([expect(create).rejects.toMatchObject({ code: 50300 }), writes.drained()]);
});

it('ends a statement with the plant whose text exceeds a million characters', async () => {
  const sizes: number[] = [];
  const writes = new WriteBatcher({ table: recordingTable(sizes), maxInFlight: 1 });
  const long = plantsFrom(20_000, 6).map((plant) => ({ ...plant, name: 'x'.repeat(400_000) }));
  await Promise.all(long.map((plant) => writes.create(plant)));
  expect(sizes).toEqual([1, 3, 2]);
});

it('rejects creates at once while too much text waits in the queue', async () => {
  const writes = new WriteBatcher({
    table: hangingTable(),
    maxInFlight: 1,
    timeout: 200,
  });
  const name = 'x'.repeat(2 ** 20);
  const accepted = plantsFrom(1, 65).map((plant) => writes.create({ ...plant, name }));
  const tooMany = writes.create({ id: 66n, name: 'x' });
  await expect(tooMany).rejects.toMatchObject({ code: 50301 });
  const outcomes = await Promise.allSettled(accepted);
  expect(outcomes).toEqual(
    Array(65).fill({ status: 'rejected', reason: expect.objectContaining({ code: 50300 }) }),
  );
  await expect(writes.create({ id: 67n, name: 'x' })).rejects.toMatchObject({ code: 50300 });
});

it.each([new Error('from the listener'), 'a text'])(
  'answers the creates of a batch even when a listener throws (%s)',
  async (thrown) => {
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
    onTestFinished(() => warn.mockRestore());
    const writes = new WriteBatcher({ table, maxInFlight: 1 });
    writes.events.on('batch', () => {
      throw thrown;
    });
    await expect(writes.create({ id: 9500n, name: 'x' })).resolves.toEqual({ name: 'x' });
    expect(warn).toHaveBeenCalledWith(thrown);
  },
);

it('creates a plant whose id was taken until the plant under it was deleted', async () => {
  let inserts = 0;
  const deleting: PlantTable = {
    ...table,
    insert: async (batch) => (++inserts === 1 ? new Set() : table.insert(batch)),
  };
  const writes = new WriteBatcher({ table: deleting, maxInFlight: 1 });
  await expect(writes.create({ id: 6000n, name: 'x' })).resolves.toEqual({ name: 'x' });
  expect(await table.find([6000n])).toEqual([{ id: 6000n, name: 'x' }]);
});

it('never inserts a plant again that was deleted after its insert', async () => {
  await sql`insert into plants (id, name) values (6010, 'taken')`;
  const deleting: PlantTable = {
    ...table,
    find: async (ids) => {
      await sql`delete from plants where id = 6011`;
      return table.find(ids);
    },
  };
  const writes = new WriteBatcher({ table: deleting, maxInFlight: 1, maxBatch: 2 });
  const first = writes.create({ id: 6009n, name: 'x' });
  const outcomes = await Promise.allSettled([
    first,
    writes.create({ id: 6010n, name: 'other' }),
    writes.create({ id: 6011n, name: 'x' }),
  ]);
  expect(outcomes).toMatchObject([
    { value: { name: 'x' } },
    { reason: { kind: 'idTaken' } },
    { value: { name: 'x' } },
  ]);
  expect(await table.find([6011n])).toEqual([]);
});

it('throws databaseUnavailable when the table is missing', async () => {
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  const store = await openPlantStore({ databaseUrl });
  const admin = postgres(databaseUrl);
  await admin`drop table plants`;
  await expect(store.create({ id: 1n, name: 'x' })).rejects.toMatchObject({ code: 50300 });
  await expect(store.ready()).rejects.toMatchObject({ code: 50300 });
  await store.close();
  // Its new migration may still run, and would set a timer on the fake clock of the next test.
  const otherSessions = () => admin`
    select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
  await vi.waitFor(async () => expect(await otherSessions()).toEqual([]));
  await admin.end();
});

it('merges two groups of clients into one statement while the database is busy', async () => {
  const sizes: number[] = [];
  let latency = 1;
  const writes = new WriteBatcher({
    table: tableWithLatency(() => latency),
    maxInFlight: 4,
    // This process has nothing to do but to wait.
    turn: new SendTurn(() => performance.now()),
  });
  writes.events.on('batch', ({ size }) => sizes.push(size));
  let isStopped = false;
  /** A client that sends its next create a millisecond after the reply. */
  const runClient = async (client: number) => {
    for (let i = 0; !isStopped; i++) {
      await writes.create({ id: BigInt(100_000 + client * 1_000 + i), name: 'x' });
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  const clients = Array.from({ length: 20 }, (_, client) => runClient(client));
  await vi.advanceTimersByTimeAsync(20);
  latency = 20;
  await vi.advanceTimersByTimeAsync(1_000);
  isStopped = true;
  await vi.advanceTimersByTimeAsync(1_000);
  await Promise.all(clients);
  expect(sizes.slice(-10)).toEqual(Array(10).fill(20));
  expect(vi.getTimerCount()).toBe(0);
});

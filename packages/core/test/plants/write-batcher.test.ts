import type { NewPlant } from '@plant-store/schemas';
import { createDatabase } from '@plant-store/test-setup';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, inject, it, onTestFinished, vi } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { openPostgres } from '../../src/database/postgres/postgres-database.ts';
import { openPlantStore } from '../../src/plant-store.ts';
import { createPlantTable, type PlantTable } from '../../src/plants/plant-table.ts';
import { WriteBatcher } from '../../src/plants/write-batcher.ts';

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

/** The real table, with a note of the size of each statement. */
function noting(sizes: number[]): PlantTable {
  const note = (batch: readonly NewPlant[]) => {
    sizes.push(batch.length);
    return batch;
  };
  return { ...table, insert: (batch) => table.insert(note(batch)) };
}

/** A table whose statements never return. */
const silent: Pick<PlantTable, 'insert'> = { insert: () => new Promise(() => {}) };

it('sends a lone create at once and lets the next ones gather meanwhile', async () => {
  const sizes: number[] = [];
  const writes = new WriteBatcher({ table: noting(sizes), maxInFlight: 1, maxBatch: 100 });
  await Promise.all(plantsFrom(1000, 250).map((plant) => writes.create(plant)));
  expect(sizes).toEqual([1, 100, 100, 49]);
});

it('sends a statement beside another when it is full, or when that one is slow', async () => {
  const sizes: number[] = [];
  const held = Promise.withResolvers<Set<bigint>>();
  const insert: PlantTable['insert'] = (batch) => {
    sizes.push(batch.length);
    return sizes.length === 1 ? held.promise : table.insert(batch);
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
  held.resolve(new Set([8000n]));
  await expect(slow).resolves.toEqual({ name: 'plant 8000' });
});

it('answers the neighbours of a plant that the database refuses', async () => {
  const writes = new WriteBatcher({ table, maxInFlight: 2 });
  const plants = plantsFrom(2000, 100);
  const poisoned = plants.map((plant, i) => (i % 30 === 7 ? { ...plant, name: 'poison' } : plant));
  const outcomes = await Promise.allSettled(poisoned.map((plant) => writes.create(plant)));

  for (const [i, outcome] of outcomes.entries()) {
    if (i % 30 === 7) expect(outcome).toMatchObject({ reason: { code: 40001 } });
    else expect(outcome).toEqual({ status: 'fulfilled', value: { name: `plant ${2000 + i}` } });
  }
  const [row] = await sql`select count(*)::int from plants where id between 2000 and 2099`;
  expect(row).toEqual({ count: 96 });
});

it('never deadlocks where batches overlap, for it sends ids in order', async () => {
  const batches: bigint[][] = [];
  const watched: PlantTable = {
    ...table,
    insert: (batch) => {
      batches.push(batch.map(({ id }) => id));
      return table.insert(batch);
    },
  };
  const writers = [1, 2, 3, 4].map(() => new WriteBatcher({ table: watched, maxInFlight: 2 }));
  const plants = plantsFrom(3000, 300);
  const orders = [plants, plants.toReversed(), plants.toSpliced(0, 150), plants.toReversed()];
  const creates = orders.flatMap((order, i) => order.map((plant) => writers[i]?.create(plant)));
  await expect(Promise.all(creates)).resolves.toHaveLength(1050);
  expect(Math.max(...batches.map((ids) => ids.length))).toBeGreaterThan(100);
  for (const ids of batches) expect(ids).toEqual(ids.toSorted((a, b) => (a < b ? -1 : 1)));
});

it('refuses creates beyond its queue at once', async () => {
  const writes = new WriteBatcher({
    table: { ...table, ...silent },
    maxInFlight: 1,
    maxQueue: 5,
    timeout: 50,
  });
  const creates = plantsFrom(4000, 7).map((plant) => writes.create(plant));
  await expect(creates[6]).rejects.toMatchObject({ kind: 'overloaded', code: 50301 });
  const outcomes = await Promise.allSettled(creates.slice(0, 6));
  for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: { code: 50300 } });
});

/** A table whose statements take so many milliseconds, by a clock that the test moves. */
function taking(milliseconds: (statement: number) => number): PlantTable {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let statements = 0;
  return {
    ...table,
    insert: async (batch) => {
      await new Promise((resolve) => setTimeout(resolve, milliseconds(++statements)));
      return new Set(batch.map(({ id }) => id));
    },
  };
}

/** Creates plants at once; resolves, when the clock has moved on, with how many were created and refused. */
async function outcomesOf(writes: WriteBatcher, first: number, count: number) {
  const creates = plantsFrom(first, count).map((plant) => writes.create(plant));
  const outcomes: Record<string, number> = { created: 0 };
  for (const outcome of await Promise.allSettled(creates)) {
    const kind = outcome.status === 'fulfilled' ? 'created' : outcome.reason.kind;
    outcomes[kind] = (outcomes[kind] ?? 0) + 1;
  }
  return outcomes;
}

it('refuses at once what would wait for too long, and answers the others in time', async () => {
  const writes = new WriteBatcher({ table: taking(() => 500), maxInFlight: 1, maxBatch: 10 });
  for (let i = 0; i < 30; i++) {
    void outcomesOf(writes, 20_000 + i * 10, 10);
    await vi.advanceTimersByTimeAsync(500);
  }
  const overload = outcomesOf(writes, 9000, 1_000);
  await vi.advanceTimersByTimeAsync(5_000);
  const { created = 0, overloaded = 0, ...others } = await overload;
  expect(others).toEqual({});
  expect(created + overloaded).toBe(1_000);
  // There is time for nine statements, and a margin.
  expect(created).toBeGreaterThan(40);
  expect(created).toBeLessThan(80);
});

it('refuses nobody because a statement hung', async () => {
  const table = taking((statement) => (statement === 1 ? 4_900 : 5));
  const writes = new WriteBatcher({ table, maxInFlight: 1 });
  const first = outcomesOf(writes, 30_000, 512);
  await vi.advanceTimersByTimeAsync(4_900);
  const next = outcomesOf(writes, 31_000, 128);
  await vi.advanceTimersByTimeAsync(100);
  expect([await first, await next]).toEqual([{ created: 512 }, { created: 128 }]);
});

it('refuses nobody because the database was slow before', async () => {
  let latency = 1_000;
  const writes = new WriteBatcher({ table: taking(() => latency), maxInFlight: 1 });
  const overload = outcomesOf(writes, 40_000, 5_000);
  await vi.advanceTimersByTimeAsync(3_500);
  expect(await outcomesOf(writes, 50_000, 1)).toEqual({ created: 0, overloaded: 1 });
  await vi.advanceTimersByTimeAsync(5_000);
  await overload;

  latency = 5;
  const after = outcomesOf(writes, 60_000, 1_000);
  await vi.advanceTimersByTimeAsync(100);
  expect(await after).toEqual({ created: 1_000 });
});

it('fills its statements though each takes half of the deadline', async () => {
  const sizes: number[] = [];
  const writes = new WriteBatcher({ table: taking(() => 2_400), maxInFlight: 1 });
  writes.events.on('batch', ({ size }) => sizes.push(size));
  for (let i = 0; i < 50; i++) {
    void outcomesOf(writes, 70_000 + i * 200, 200);
    await vi.advanceTimersByTimeAsync(1_200);
  }
  // The first create goes at once, alone.
  expect(sizes).toEqual([1, ...sizes.slice(1).fill(128)]);
  expect(sizes.length).toBeGreaterThan(20);
});

it('sends no further statements behind those that do not return, and goes on when they do', async () => {
  const held = Promise.withResolvers<Set<bigint>>();
  let statements = 0;
  const slow: PlantTable = {
    ...table,
    insert: (batch) => (++statements === 1 ? held.promise : table.insert(batch)),
  };
  const writes = new WriteBatcher({ table: slow, maxInFlight: 1, maxQueue: 2, timeout: 50 });
  const late = await Promise.allSettled(plantsFrom(5000, 3).map((plant) => writes.create(plant)));
  for (const outcome of late) expect(outcome).toMatchObject({ reason: { code: 50300 } });

  // Those that were answered late have made room in the queue, for one that is answered late too.
  await expect(writes.create({ id: 5003n, name: 'x' })).rejects.toMatchObject({ code: 50300 });
  expect(statements).toBe(1);

  held.resolve(new Set());
  await held.promise;
  await expect(writes.create({ id: 5004n, name: 'x' })).resolves.toEqual({ name: 'x' });
});

it('is drained at its deadline though a statement never returns', async () => {
  const stuck: PlantTable = { ...table, ...silent };
  const writes = new WriteBatcher({ table: stuck, maxInFlight: 1, timeout: 20 });
  const create = writes.create({ id: 7000n, name: 'x' });
  await Promise.all([expect(create).rejects.toMatchObject({ code: 50300 }), writes.drained()]);
});

it('sends no more text in one statement than a million characters, and one plant', async () => {
  const sizes: number[] = [];
  const writes = new WriteBatcher({ table: noting(sizes), maxInFlight: 1 });
  const long = plantsFrom(20_000, 6).map((plant) => ({ ...plant, name: 'x'.repeat(400_000) }));
  await Promise.all(long.map((plant) => writes.create(plant)));
  expect(sizes).toEqual([1, 3, 2]);
});

it('refuses creates at once that would make more text wait than it holds', async () => {
  const writes = new WriteBatcher({
    table: { ...table, ...silent },
    maxInFlight: 1,
    timeout: 200,
  });
  const name = 'x'.repeat(2 ** 20);
  const held = plantsFrom(1, 65).map((plant) => writes.create({ ...plant, name }));
  const tooMany = writes.create({ id: 66n, name: 'x' });
  await expect(tooMany).rejects.toMatchObject({ code: 50301 });
  const outcomes = await Promise.allSettled(held);
  expect(outcomes).toEqual(
    Array(65).fill({ status: 'rejected', reason: expect.objectContaining({ code: 50300 }) }),
  );
  await expect(writes.create({ id: 67n, name: 'x' })).rejects.toMatchObject({ code: 50300 });
});

it('answers the creates of a batch though whoever is told of it fails', async () => {
  const failure = new Error('no room to count in');
  const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
  onTestFinished(() => warn.mockRestore());
  const writes = new WriteBatcher({ table, maxInFlight: 1 });
  writes.events.on('batch', () => {
    throw failure;
  });
  await expect(writes.create({ id: 9500n, name: 'x' })).resolves.toEqual({ name: 'x' });
  expect(warn).toHaveBeenCalledWith(failure);
});

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

it('says that the database is unavailable when it is, not that it has a bug', async () => {
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  const store = await openPlantStore({ databaseUrl });
  const admin = postgres(databaseUrl);
  await admin`drop table plants`;
  await admin.end();
  await expect(store.create({ id: 1n, name: 'x' })).rejects.toMatchObject({ code: 50300 });
  await expect(store.ready()).rejects.toMatchObject({ code: 50300 });
  await store.close();
});

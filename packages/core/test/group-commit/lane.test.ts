import { createDatabase } from '@plant-store/test-setup';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { deadlineIn } from '../../src/database/deadline.ts';
import { createLane, type Lane } from '../../src/group-commit/lane.ts';
import { createPlantStatements, type PlantStatements } from '../../src/plants/statements.ts';
import { openPostgres } from '../../src/postgres/postgres-database.ts';

let database: Database;
let statements: PlantStatements;

beforeAll(async () => {
  database = await openPostgres(await createDatabase(inject('postgresUrl')));
  statements = createPlantStatements(database);
});

afterAll(() => database.close());

/** Opens a lane that sends one statement at a time. By default, the lane uses the real statements. */
function openLane(
  others: Partial<PlantStatements> = {},
  options: Partial<Parameters<typeof createLane>[0]> = {},
): Lane {
  return createLane({
    statements: { ...statements, ...others },
    shares: { creates: 1, lookUps: 1 },
    mayCommit: async () => false,
    onClockMoved() {},
    onCommit() {},
    ...options,
  });
}

/** Makes an `insert` function. The first insert waits until the test calls `end`. */
function hangingInsert() {
  const hung = Promise.withResolvers<void>();
  let inserts = 0;
  const insert: PlantStatements['insert'] = async (...batch) => {
    if (++inserts === 1) await hung.promise;
    return statements.insert(...batch);
  };
  return { insert, end: hung.resolve };
}

const plantsFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({ id: BigInt(first + i), name: `plant ${first + i}` }));

describe('creates', () => {
  it.each([Number.NaN, null])(
    'rejects a create with the deadline %s, and creates the other waiting plants',
    async (deadline) => {
      const { insert, end } = hangingInsert();
      const lane = openLane({ insert });
      const [first, second, third] = plantsFrom(deadline === null ? 3_300 : 3_200, 3);
      if (!first || !second || !third) throw new Error('there are three plants');
      const others = [lane.create(first), lane.create(second)];
      const invalid = { deadline } as { deadline: number }; // Plain JavaScript can pass any value.
      await expect(lane.create(third, invalid)).rejects.toMatchObject({ kind: 'invalidInput' });
      end();
      await Promise.all(others);
    },
  );

  it('rejects a create immediately when the waiting names and tags have 64 Mi characters', async () => {
    const { insert, end } = hangingInsert();
    const lane = openLane({ insert });
    const first = lane.create({ id: 3_100n, name: 'x' });
    const [name, tag] = ['x'.repeat(2 ** 25), 'x'.repeat(2 ** 25)];
    const caller = { isGone: false };
    const dropped = expect(lane.create({ id: 3_101n, name, tag }, { caller })).rejects.toThrow();
    const rejected = expect(lane.create({ id: 3_102n, name: 'x' })).rejects;
    await rejected.toMatchObject({ kind: 'overloaded' });
    caller.isGone = true;
    end();
    await Promise.all([first, dropped]);
    expect(await lane.create({ id: 3_103n, name: 'x' })).toEqual({ name: 'x' });
  });

  it('says that the plant may be stored when the deadline of a create has passed', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const lane = openLane({ insert: () => new Promise(() => {}) });
    const creates = plantsFrom(4_000, 2).map((plant) => lane.create(plant));
    const outcomes = Promise.allSettled(creates);
    await vi.advanceTimersByTimeAsync(5_000);
    const message = 'the database did not respond: the plant may still be stored, send it again';
    expect(await outcomes).toMatchObject(creates.map(() => ({ reason: { code: 50300, message } })));
    expect(lane.pending).toEqual({ waiting: 0, inFlight: 1 });
  });
});

describe('creates of many plants', () => {
  const outcome = (result: string) => ({ status: 'fulfilled', value: result });
  const options = () => ({ deadline: deadlineIn(60_000) });

  it('sends one statement for many plants', async () => {
    const sizes: number[] = [];
    const lane = openLane({}, { onCommit: ({ size }) => sizes.push(size) });
    const plants = plantsFrom(10_000, 500);
    const created = plants.map(() => outcome('created'));
    expect(await lane.createAll(plants, options())).toEqual(created);
    const again = [{ id: 10_001n, name: 'other' }, ...plants.slice(2, 4)];
    expect(await lane.createAll(again, options())).toMatchObject([
      { reason: { kind: 'idTaken' } },
      ...[2, 3].map(() => outcome('exists')),
    ]);
    expect(sizes).toEqual([500, 3]);
  });

  it('leaves one connection free for single creates', async () => {
    const { insert, end } = hangingInsert();
    const lane = openLane({ insert }, { shares: { creates: 2, lookUps: 1 } });
    const many = lane.createAll(plantsFrom(11_000, 2), options());
    const more = lane.createAll(plantsFrom(11_002, 1_000), options());
    expect(await lane.create({ id: 12_500n, name: 'single' })).toEqual({ name: 'single' });
    expect(lane.pending).toEqual({ waiting: 1_000, inFlight: 2 });
    end();
    expect([...(await many), ...(await more)]).toEqual(
      plantsFrom(0, 1_002).map(() => outcome('created')),
    );
  });

  it('rejects the plants that do not fit into the queue', async () => {
    const { insert, end } = hangingInsert();
    const lane = openLane({ insert });
    const [running, waiting] = [
      lane.createAll(plantsFrom(13_000, 1), options()),
      lane.createAll(plantsFrom(20_000, 10_002), options()),
    ];
    end();
    expect(await running).toEqual([outcome('created')]);
    const message =
      '10000 creates are waiting already: nothing was written, send the plant again later';
    const outcomes = await waiting;
    expect(outcomes.slice(0, 10_000)).toEqual(Array(10_000).fill(outcome('created')));
    expect(outcomes.slice(10_000)).toMatchObject(
      Array(2).fill({ reason: { code: 50301, message } }),
    );
  });
});

describe('single creates and creates of many plants', () => {
  const one = (lane: Lane, id: number) => lane.create({ id: BigInt(id), name: 'x' });
  const many = async (lane: Lane, id: number) => {
    const [outcome] = await lane.createAll(plantsFrom(id, 1), { deadline: deadlineIn(60_000) });
    return outcome?.status === 'rejected' ? Promise.reject(outcome.reason) : outcome?.value;
  };

  it.each([
    [one, 6_000],
    [many, 14_000],
  ])(
    'rejects waiting creates when the clocks have moved, and accepts later creates (%#)',
    async (create, id) => {
      const listeners: ((error: Error) => void)[] = [];
      const { insert, end } = hangingInsert();
      const lane = openLane({ insert }, { onClockMoved: (listener) => listeners.push(listener) });
      const running = create(lane, id);
      const cause = new Error('the clocks have moved apart');
      const rejected = expect(create(lane, id + 1)).rejects.toMatchObject({ code: 50300, cause });
      await vi.waitFor(() => expect(lane.pending).toEqual({ waiting: 1, inFlight: 1 }));
      for (const listener of listeners) listener(cause);
      await rejected;
      const next = create(lane, id + 2);
      end();
      await Promise.all([running, next]);
    },
  );

  it.each([
    [one, 7_000],
    [many, 15_000],
  ])(
    'settles all creates before the lane is drained, and rejects later creates (%#)',
    async (create, id) => {
      const { insert, end } = hangingInsert();
      const lane = openLane({ insert });
      const creates = [create(lane, id), create(lane, id + 1)];
      await vi.waitFor(() => expect(lane.pending.waiting).toBe(1));
      let isDrained = false;
      const drained = lane.drained().then(() => {
        isDrained = true;
      });
      await expect(create(lane, id + 2)).rejects.toMatchObject({
        kind: 'shuttingDown',
        message: 'the store is closing: nothing was written, send the plant again later',
      });
      expect(isDrained).toBe(false);
      end();
      await Promise.all(creates);
      await drained;
    },
  );
});

it('passes the `deadline` and the `caller` of a delete to the database', async () => {
  const write = vi.fn(async () => ({ rows: [[1, 1]], count: 1 }));
  const lane = openLane(createPlantStatements({ ...database, write }));
  const options = { deadline: deadlineIn(700), caller: { isGone: false } };
  expect(await lane.delete(8_001n, options)).toBe(true);
  expect(write.mock.calls).toEqual([
    [expect.any(String), expect.any(Function), expect.objectContaining(options)],
  ]);
});

it('sets a deadline for a delete without a deadline', async () => {
  const remove = vi.fn<PlantStatements['delete']>(async () => false);
  await openLane({ delete: remove }).delete(1n);
  expect(remove).toHaveBeenCalledWith(1n, { deadline: expect.any(Number) });
});

import { createDatabase } from '@plant-store/test-setup';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { deadlineIn } from '../../src/database/deadline.ts';
import { createVerbs } from '../../src/database/verbs.ts';
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

/** A lane with one statement at a time. By default, it uses the real statements. */
function openLane(
  others: Partial<PlantStatements> = {},
  options: Partial<Parameters<typeof createLane>[0]> = {},
): Lane {
  return createLane({
    statements: { ...statements, ...others },
    maxInserts: 1,
    maxLookUps: 1,
    mayCommit: async () => false,
    onClockMoved() {},
    onCommit() {},
    ...options,
  });
}

/** An insert that the test ends. Later inserts run as usual. */
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

const mayBeStored = 'the database did not respond: the plant may still be stored, send it again';

describe('creates', () => {
  it('run in two statements at a time when the database has two connections for creates', async () => {
    const { insert, end } = hangingInsert();
    const lane = openLane({ insert }, { maxInserts: 2, limits: { slowAfter: 20 } });
    const [slow, next] = plantsFrom(2_000, 2).map((plant) => lane.create(plant));
    expect(await next).toEqual({ name: 'plant 2001' });
    end();
    expect(await slow).toEqual({ name: 'plant 2000' });
  });

  it('are rejected at once when too many wait', async () => {
    const { insert, end } = hangingInsert();
    const lane = openLane({ insert }, { limits: { maxQueue: 5 } });
    const accepted = plantsFrom(3_000, 6).map((plant) => lane.create(plant));
    await vi.waitFor(() => expect(lane.pending).toEqual({ waiting: 5, inFlight: 1 }));
    await expect(lane.create({ id: 3_006n, name: 'x' })).rejects.toMatchObject({
      kind: 'overloaded',
      code: 50301,
      message: '5 creates are waiting already: nothing was written, send the plant again later',
    });
    end();
    await Promise.all(accepted);
    expect(lane.pending).toEqual({ waiting: 0, inFlight: 0 });
  });

  it('are rejected at once while names and tags of 64 Mi characters wait', async () => {
    const { insert, end } = hangingInsert();
    const lane = openLane({ insert }, { limits: { maxBatch: 1 } });
    const first = lane.create({ id: 3_100n, name: 'x' });
    const [name, tag] = ['x'.repeat(2 ** 25), 'x'.repeat(2 ** 25)];
    const deadline = deadlineIn(500);
    const late = expect(lane.create({ id: 3_101n, name, tag }, { deadline })).rejects;
    const rejected = expect(lane.create({ id: 3_102n, name: 'x' })).rejects;
    await rejected.toMatchObject({ kind: 'overloaded' });
    await late.toMatchObject({ code: 50300 });
    end();
    await first;
  });

  it('say at their deadline that the plant may be stored', async () => {
    const { insert, end } = hangingInsert();
    const lane = openLane({ insert });
    const deadline = deadlineIn(20);
    for (const outcome of await Promise.allSettled(
      plantsFrom(4_000, 2).map((plant) => lane.create(plant, { deadline })),
    )) {
      expect(outcome).toMatchObject({ reason: { code: 50300, message: mayBeStored } });
    }
    expect(lane.pending).toEqual({ waiting: 0, inFlight: 1 });
    end();
  });

  it('do not reach the database when their callers have disconnected', async () => {
    const { insert, end } = hangingInsert();
    const lane = openLane({ insert });
    const caller = { isGone: false };
    const [first, dropped] = plantsFrom(5_000, 2).map((plant) => lane.create(plant, { caller }));
    const rejected = expect(dropped).rejects.toMatchObject({ code: 50300 });
    caller.isGone = true;
    end();
    expect(await first).toEqual({ name: 'plant 5000' });
    await rejected;
    expect(await lane.get(5_001n)).toBeUndefined();
  });

  it('are rejected while they wait when the clocks have moved, and later creates are accepted', async () => {
    const listeners: ((error: Error) => void)[] = [];
    const { insert, end } = hangingInsert();
    const lane = openLane({ insert }, { onClockMoved: (listener) => listeners.push(listener) });
    const [running, ...waiting] = plantsFrom(6_000, 3).map((plant) => lane.create(plant));
    const moved = new Error('the clocks have moved apart');
    const rejected = waiting.map((each) =>
      expect(each).rejects.toMatchObject({ code: 50300, cause: moved }),
    );
    await vi.waitFor(() => expect(lane.pending).toEqual({ waiting: 2, inFlight: 1 }));
    for (const listener of listeners) listener(moved);
    await Promise.all(rejected);
    const next = lane.create({ id: 6_003n, name: 'next' });
    end();
    expect(await Promise.all([running, next])).toEqual([{ name: 'plant 6000' }, { name: 'next' }]);
  });

  it('are settled before the lane is drained, and rejected after that', async () => {
    const { insert, end } = hangingInsert();
    const lane = openLane({ insert });
    const creates = plantsFrom(7_000, 3).map((plant) => lane.create(plant));
    await vi.waitFor(() => expect(lane.pending.waiting).toBe(2));
    let isDrained = false;
    const drained = lane.drained().then(() => {
      isDrained = true;
    });
    await expect(lane.create({ id: 7_003n, name: 'x' })).rejects.toMatchObject({
      kind: 'shuttingDown',
      message: 'the store is closing: nothing was written, send the plant again later',
    });
    expect(isDrained).toBe(false);
    end();
    await Promise.all(creates);
    await drained;
  });
});

describe('creates of many plants', () => {
  const outcome = (result: string) => ({ status: 'fulfilled', value: result });
  const options = () => ({ deadline: deadlineIn(60_000) });

  it('run in one statement', async () => {
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

  it('leave one connection to single creates', async () => {
    const { insert, end } = hangingInsert();
    const lane = openLane({ insert }, { maxInserts: 2 });
    const many = lane.createAll(plantsFrom(11_000, 2), options());
    const more = lane.createAll(plantsFrom(11_002, 1_000), options());
    expect(await lane.create({ id: 12_500n, name: 'single' })).toEqual({ name: 'single' });
    expect(lane.pending).toEqual({ waiting: 1_000, inFlight: 2 });
    end();
    expect([...(await many), ...(await more)]).toEqual(
      plantsFrom(0, 1_002).map(() => outcome('created')),
    );
  });

  it('are rejected one by one when too many wait', async () => {
    const { insert, end } = hangingInsert();
    const lane = openLane({ insert }, { limits: { maxQueue: 3 } });
    const [running, waiting] = [
      lane.createAll(plantsFrom(13_000, 1), options()),
      lane.createAll(plantsFrom(13_001, 5), options()),
    ];
    end();
    expect(await running).toEqual([outcome('created')]);
    const message =
      '3 creates are waiting already: nothing was written, send the plant again later';
    expect(await waiting).toMatchObject([
      ...[1, 2, 3].map(() => outcome('created')),
      ...[4, 5].map(() => ({ reason: { code: 50301, message } })),
    ]);
  });

  it('are rejected while they wait when the clocks have moved', async () => {
    const listeners: ((error: Error) => void)[] = [];
    const { insert, end } = hangingInsert();
    const lane = openLane({ insert }, { onClockMoved: (listener) => listeners.push(listener) });
    const running = lane.createAll(plantsFrom(14_000, 1), options());
    const waiting = lane.createAll(plantsFrom(14_001, 1), options());
    for (const listener of listeners) listener(new Error('the clocks have moved apart'));
    expect(await waiting).toMatchObject([{ reason: { code: 50300 } }]);
    end();
    expect(await running).toEqual([outcome('created')]);
  });

  it('are settled before the lane is drained, and rejected after that', async () => {
    const { insert, end } = hangingInsert();
    const lane = openLane({ insert });
    const many = lane.createAll(plantsFrom(15_000, 3), options());
    let isDrained = false;
    const drained = lane.drained().then(() => {
      isDrained = true;
    });
    expect(await lane.createAll(plantsFrom(15_003, 1), options())).toMatchObject([
      { reason: { kind: 'shuttingDown' } },
    ]);
    expect(isDrained).toBe(false);
    end();
    expect(await many).toHaveLength(3);
    await drained;
  });
});

describe('a delete', () => {
  it('passes its deadline and its caller on', async () => {
    const write = vi.fn(async () => ({ rows: [[1, 1]], count: 1 }));
    const lane = openLane(createPlantStatements({ ...database, write }));
    const options = { deadline: deadlineIn(700), caller: { isGone: false } };
    expect(await lane.delete(8_001n, options)).toBe(true);
    expect(write.mock.calls).toEqual([
      [expect.any(String), expect.any(Function), expect.objectContaining(options)],
    ]);
  });

  it('throws databaseUnavailable when the database does not respond', async () => {
    const verbs = createVerbs(() => Promise.reject(new Error('no connection')));
    const lane = openLane(createPlantStatements(verbs));
    await expect(lane.delete(8_002n)).rejects.toMatchObject({
      code: 50300,
      message: expect.stringMatching(
        /^the database did not respond: the plant may or may not be del/,
      ),
      cause: { message: 'no connection' },
    });
  });
});

describe('gets', () => {
  it('run in one statement when another statement runs already', async () => {
    const find = vi.fn(statements.find);
    const lane = openLane({ find });
    await Promise.all(plantsFrom(9_000, 3).map((plant) => lane.create(plant)));
    const ids = [9_002n, 9_000n, 9_001n, 9_000n, 9_999n];
    const found = await Promise.all(ids.map((id) => lane.get(id)));
    expect(found.map((plant) => plant?.id)).toEqual([...ids.slice(0, 4), undefined]);
    expect(find.mock.calls.map(([keys]) => keys)).toEqual([[9_002n], [9_000n, 9_001n, 9_999n]]);
  });
});

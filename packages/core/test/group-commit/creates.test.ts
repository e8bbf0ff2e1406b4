import type { NewPlant } from '@plant-store/schemas';
import { createDatabase } from '@plant-store/test-setup';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { lateWriteError, unconfirmedCommit } from '../../src/database/database-error.ts';
import { type Deadline, deadlineIn } from '../../src/database/deadline.ts';
import { Call } from '../../src/database/pool/call.ts';
import {
  type CommittedBatch,
  type Create,
  type CreateOutcome,
  writeBatch,
} from '../../src/group-commit/creates.ts';
import { outcomeUnknown } from '../../src/plants/create-errors.ts';
import { createPlantStatements, type PlantStatements } from '../../src/plants/statements.ts';
import { openPostgres } from '../../src/postgres/postgres-database.ts';
import { serverError } from '../fixtures/test-pool.ts';

let sql: postgres.Sql;
let database: Database;
let statements: PlantStatements;

beforeAll(async () => {
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  database = await openPostgres(databaseUrl);
  sql = postgres(databaseUrl);
  statements = createPlantStatements(database);
});

afterAll(() => Promise.all([sql.end(), database.close()]));

const plantsFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({ id: BigInt(first + i), name: `plant ${first + i}` }));

const create = (plant: NewPlant, deadline: Deadline = deadlineIn(60_000)): Create =>
  new Call<NewPlant, CreateOutcome>(plant, { deadline }, (call) => call.reject(outcomeUnknown()));

/** Writes a batch of creates, and returns the outcomes. By default, the batch uses the real statements. */
async function write(
  plants: readonly (NewPlant | Create)[],
  others: Partial<PlantStatements> = {},
  onCommit: (committed: CommittedBatch) => void = () => {},
) {
  const batch = plants.map((plant) => (plant instanceof Call ? plant : create(plant)));
  const outcomes = Promise.allSettled(batch.map(({ outcome }) => outcome));
  await writeBatch({ ...statements, ...others }, batch, onCommit);
  return outcomes;
}

const stored = (...ids: number[]) => sql`
  select id::int, name from plants where id = any (${ids}::bigint[]) order by id`;

it('creates plants without a look-up when every id is free', async () => {
  const findDurable = vi.fn(statements.findDurable);
  const plants = [
    { id: 1n, name: 'Hoya', tag: 'Apocynaceae' },
    { id: 0n, name: 'Ficus' },
  ];
  const created = { status: 'fulfilled', value: 'created' };
  expect(await write(plants, { findDurable })).toEqual([created, created]);
  expect(findDurable).not.toHaveBeenCalled();
});

it('creates the first plant with each id, and compares later plants of the same id with the first plant', async () => {
  const batch = [
    { id: 13n, name: 'a' },
    { id: 11n, name: 'b' },
    { id: 13n, name: 'c' },
    { id: 11n, name: 'b' },
    { id: 11n, name: 'b', tag: '' },
  ];
  expect(await write(batch)).toMatchObject([
    { value: 'created' },
    { value: 'created' },
    { reason: { kind: 'idTaken', message: expect.stringContaining('id 13 ') } },
    { value: 'exists' },
    { reason: { kind: 'idTaken' } },
  ]);
  expect(await stored(11, 13)).toEqual([
    { id: 11, name: 'b' },
    { id: 13, name: 'a' },
  ]);
});

it('sends ids in ascending order, so that overlapping batches never deadlock', async () => {
  const batches: bigint[][] = [];
  const insert: PlantStatements['insert'] = (batch, deadline) => {
    batches.push(batch.map(({ id }) => id));
    return statements.insert(batch, deadline);
  };
  const plants = plantsFrom(3000, 300);
  const orders = [plants, plants.toReversed(), plants.toSpliced(0, 150), plants.toReversed()];
  for (const outcomes of await Promise.all(orders.map((order) => write(order, { insert })))) {
    for (const { status } of outcomes) expect(status).toBe('fulfilled');
  }
  for (const ids of batches) expect(ids).toEqual(ids.toSorted((a, b) => (a < b ? -1 : 1)));
});

it('creates a plant when an earlier plant with the same id is deleted before the comparison', async () => {
  let inserts = 0;
  const insert: PlantStatements['insert'] = async (...batch) =>
    ++inserts === 1 ? new Set() : statements.insert(...batch);
  const outcomes = await write([{ id: 6000n, name: 'x' }], { insert });
  expect(outcomes).toMatchObject([{ value: 'created' }]);
  expect(await stored(6000)).toEqual([{ id: 6000, name: 'x' }]);
});

it('does not insert a plant again when another client deletes the plant during the batch', async () => {
  await sql`insert into plants (id, name) values (6010, 'taken')`;
  const findDurable: PlantStatements['findDurable'] = async (...ids) => {
    await sql`delete from plants where id = 6011`;
    return statements.findDurable(...ids);
  };
  const batch = [
    { id: 6010n, name: 'other' },
    { id: 6011n, name: 'x' },
  ];
  expect(await write(batch, { findDurable })).toMatchObject([
    { reason: { kind: 'idTaken' } },
    { value: 'created' },
  ]);
  expect(await stored(6011)).toEqual([]);
});

it('settles the creates of new plants before the look-up of the taken ids ends', async () => {
  await sql`insert into plants (id, name) values (6020, 'x')`;
  const lookUp = Promise.withResolvers<void>();
  const findDurable: PlantStatements['findDurable'] = async (...ids) => {
    await lookUp.promise;
    return statements.findDurable(...ids);
  };
  const repeated = create({ id: 6020n, name: 'x' });
  const inserted = create({ id: 6021n, name: 'x' });
  const written = write([repeated, inserted], { findDurable });
  expect(await inserted.outcome).toBe('created');
  expect(repeated.isSettled).toBe(false);
  lookUp.resolve();
  expect(await written).toMatchObject([{ value: 'exists' }, { value: 'created' }]);
});

describe.each([
  ['is late', lateWriteError()],
  ['is cancelled', serverError('57014')],
  ['is not on the standby', unconfirmedCommit()],
])('when the look-up of a taken id %s', (_, error) => {
  it('inserts no plant twice, and says that the plant of the late create may be stored', async () => {
    await sql`insert into plants (id, name) values (6030, 'x'), (6031, 'x')`;
    onTestFinished(async () => {
      await sql`delete from plants where id between 6030 and 6032`;
    });
    let lookUps = 0;
    const earliest = deadlineIn(60_000);
    const findDurable: PlantStatements['findDurable'] = async (...ids) => {
      if (++lookUps > 1) return statements.findDurable(...ids);
      await sql`delete from plants where id = 6032`;
      const clock = vi.spyOn(performance, 'now').mockReturnValue(earliest);
      onTestFinished(() => clock.mockRestore());
      throw error;
    };
    const repeated = create({ id: 6030n, name: 'x' }, earliest);
    const other = create({ id: 6031n, name: 'y' }, earliest + 60_000);
    const inserted = create({ id: 6032n, name: 'x' }, earliest + 60_000);
    expect(await write([repeated, other, inserted], { findDurable })).toMatchObject([
      { reason: { code: 50300, message: expect.stringContaining('may still be stored') } },
      { reason: { kind: 'idTaken' } },
      { value: 'created' },
    ]);
    expect(await stored(6030, 6031, 6032)).toHaveLength(2);
  });
});

it('reports the number of plants and the duration of each committed statement', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const insert: PlantStatements['insert'] = async (batch) => {
    vi.advanceTimersByTime(30);
    const isRejected = batch.some(({ name }) => name === 'poison');
    if (isRejected) throw serverError('23514');
    return new Set(batch.map(({ id }) => id));
  };
  const committed: CommittedBatch[] = [];
  const plants = [...plantsFrom(13_000, 3), { id: 13_003n, name: 'poison' }];
  await write(plants, { insert }, (batch) => committed.push(batch));
  // The statement with the rejected plant is rolled back. Two smaller statements then write the valid plants.
  expect(committed).toEqual([
    { size: 2, milliseconds: 30 },
    { size: 1, milliseconds: 30 },
  ]);
});

it('does not insert a plant when the deadline of the create has passed', async () => {
  const late = create({ id: 17_000n, name: 'x' }, deadlineIn(1));
  await expect(late.outcome).rejects.toMatchObject({ code: 50300 });
  const sizes: number[] = [];
  const insert: PlantStatements['insert'] = (batch, deadline) => {
    sizes.push(batch.length);
    return statements.insert(batch, deadline);
  };
  const outcomes = await write([late, { id: 17_001n, name: 'x' }], { insert });
  expect(outcomes).toMatchObject([{ status: 'rejected' }, { value: 'created' }]);
  expect(sizes).toEqual([1]);
  expect(await stored(17_000, 17_001)).toEqual([{ id: 17_001, name: 'x' }]);
  await write([late], { insert });
  expect(sizes).toEqual([1]);
});

it('rejects only the late creates of a batch, and creates the other plants', async () => {
  const limit = deadlineIn(60_000);
  const insert: typeof statements.insert = (plants, deadline) =>
    deadline < limit ? Promise.reject(lateWriteError()) : statements.insert(plants, deadline);
  const sizes: number[] = [];
  const batch = plantsFrom(19_000, 5).map((plant, i) =>
    create(plant, i % 2 === 1 ? limit - i : limit + i),
  );
  const outcomes = await write(batch, { insert }, ({ size }) => sizes.push(size));
  const nothingWritten = { code: 50300, message: expect.stringContaining('nothing was written') };
  expect(outcomes).toMatchObject([
    { value: 'created' },
    { reason: nothingWritten },
    { value: 'created' },
    { reason: nothingWritten },
    { value: 'created' },
  ]);
  expect(sizes).toEqual([3]);
  expect((await stored(19_000, 19_001, 19_002, 19_003, 19_004)).map(({ id }) => id)).toEqual([
    19_000, 19_002, 19_004,
  ]);
});

it('sends the other creates of a batch again when the deadline of one create has cancelled the statement', async () => {
  const other = await sql.reserve();
  onTestFinished(() => other.release());
  await other`begin`;
  await other`insert into plants (id, name) values (19_051, 'uncommitted')`;
  const late = create({ id: 19_050n, name: 'late' }, deadlineIn(300));
  const waiting = create({ id: 19_051n, name: 'waits for the other session' });
  const written = write([late, waiting]);
  await expect(late.outcome).rejects.toMatchObject({ code: 50300 });
  await other`rollback`;
  expect(await written).toMatchObject([{ status: 'rejected' }, { value: 'created' }]);
  expect(await stored(19_050, 19_051)).toHaveLength(1);
});

it('does not send plants again when somebody cancels the statement before the deadline', async () => {
  const insert = vi.fn(() => Promise.reject(serverError('57014')));
  const outcomes = await write([{ id: 19_060n, name: 'x' }], { insert });
  expect(outcomes).toMatchObject([{ reason: { code: 50300 } }]);
  expect(insert).toHaveBeenCalledTimes(1);
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { deadlineIn, timeText } from '../../src/database/deadline.ts';
import type { Run } from '../../src/database/verbs.ts';
import { openDatabase } from '../../src/open-database.ts';
import { createPlantStatements, type PlantStatements } from '../../src/plants/statements.ts';
import { embedded, server } from '../fixtures/databases.ts';

describe.each([embedded, server])('statements about plants on $name', ({ provide }) => {
  let database: Database;
  let remove: () => Promise<void>;
  let statements: PlantStatements;
  /** Statements that reach the database a millisecond after their deadline. */
  let late: PlantStatements;

  beforeAll(async () => {
    const provided = await provide();
    remove = provided.remove;
    database = await openDatabase(provided.options);
    statements = createPlantStatements(database);
    const write: Run = (text, values, options) =>
      database.write(
        text,
        typeof values === 'function' ? () => values(timeText(Date.now() - 1)) : values,
        options,
      );
    late = createPlantStatements({ ...database, write });
  });

  afterAll(async () => {
    await database.close();
    await remove();
  });

  const deadline = () => deadlineIn(60_000);
  const find = async (ids: bigint[]) => [...(await statements.find(ids, deadline())).values()];

  it('inserts the plants whose ids are free, and returns these ids', async () => {
    const hoya = { id: 1n, name: 'Hoya', tag: '' };
    expect(await statements.insert([hoya], deadline())).toEqual(new Set([1n]));
    const batch = [0n, 1n, 2n].map((id) => ({ id, name: 'Ficus' }));
    expect(await statements.insert(batch, deadline())).toEqual(new Set([0n, 2n]));
    expect(await statements.insert(batch, deadline())).toEqual(new Set());
    const found = await find([0n, 1n, 2n, 3n]);
    const createdAt = expect.any(Date);
    expect(found.toSorted((a, b) => Number(a.id - b.id))).toEqual([
      { id: 0n, name: 'Ficus', createdAt },
      { ...hoya, createdAt },
      { id: 2n, name: 'Ficus', createdAt },
    ]);
    expect(await statements.findDurable([1n, 3n], deadline())).toEqual(
      new Map([[1n, { ...hoya, createdAt }]]),
    );
  });

  it('inserts a large batch with unusual texts', async () => {
    const texts = ['', 'NULL', 'a "b" \\ {c},', '🌻', "'"];
    const batch = Array.from({ length: 300 }, (_, i) => {
      const [name = '', tag = ''] = [texts[i % 5], texts[i % 7]];
      return { id: BigInt(1_000 + i), name, ...(i % 7 < 5 && { tag }) };
    });
    await statements.insert([{ id: 1_005n, name: 'taken' }], deadline());
    const ids = batch.map(({ id }) => id);
    const free = ids.filter((id) => id !== 1_005n);
    expect(await statements.insert(batch, deadline())).toEqual(new Set(free));
    const found = await find(free);
    const sorted = found.toSorted((a, b) => Number(a.id - b.id));
    const createdAt = expect.any(Date);
    const stored = batch.filter(({ id }) => id !== 1_005n);
    expect(sorted).toStrictEqual(stored.map((plant) => ({ ...plant, createdAt })));
  });

  it('inserts nothing when the deadline has passed by the clock of the database', async () => {
    await statements.insert([{ id: 10n, name: 'taken' }], deadline());
    const batch = [10n, 11n, 12n].map((id) => ({ id, name: 'late' }));
    const error = await late.insert(batch, deadline()).catch((error: unknown) => error);
    expect(error).toMatchObject({ databaseCode: 'CLOCKS_MOVED' });
    expect(await find([11n, 12n])).toEqual([]);
    expect(await find([10n])).toMatchObject([{ name: 'taken' }]);
  });

  it('deletes nothing when the deadline has passed by the clock of the database', async () => {
    await statements.insert([{ id: 30n, name: 'Hoya' }], deadline());
    const error = await late.delete(30n, { deadline: deadline() }).catch((error: unknown) => error);
    expect(error).toMatchObject({ databaseCode: 'CLOCKS_MOVED' });
    expect(await find([30n])).toMatchObject([{ name: 'Hoya' }]);
  });

  it('writes when there is no deadline', async () => {
    const forEver = Number.POSITIVE_INFINITY;
    const plant = { id: 40n, name: 'Hoya' };
    expect(await statements.insert([plant], forEver)).toEqual(new Set([40n]));
    expect(await statements.delete(40n, { deadline: forEver })).toBe(true);
  });
});

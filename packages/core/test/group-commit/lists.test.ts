import { createDatabase } from '@plant-store/test-setup';
import postgres from 'postgres';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { createLists } from '../../src/group-commit/lists.ts';
import { openDatabase } from '../../src/open-database.ts';
import { openPlantStore } from '../../src/plant-store.ts';
import { PlantStoreError } from '../../src/plant-store-error.ts';
import { createPlantReader } from '../../src/plants/plant-reader.ts';
import { embedded, server } from '../fixtures/databases.ts';

const everyPage = [undefined, -1n, 0n, 3n, 2n ** 63n - 1n].flatMap((after) =>
  [undefined, 'herb', 'a "tag" with \\ and {,}', 'none'].flatMap((tag) =>
    [1, 2, 100, 1_000].map((limit) => ({ after, tag, limit })),
  ),
);

/** Creates plants of all sizes: a name of up to 600,000 characters, and some tags. */
const plants = [-(2n ** 63n), -1n, 0n, 1n, 2n, 3n, 4n, 2n ** 63n - 1n].map((id, i) => ({
  id,
  name: 'n'.repeat([1, 2_000, 20_000, 600_000][i % 4] ?? 1),
  ...(i % 3 > 0 && { tag: i % 3 === 1 ? 'herb' : 'a "tag" with \\ and {,}' }),
}));

describe.each([embedded, server])('lists on $name', ({ provide }) => {
  it('returns for lists at the same time the pages that each list gets alone', async () => {
    const { options, remove } = await provide();
    const store = await openPlantStore(options, { requireConnection: true });
    for (const plant of plants) await store.create(plant);
    const together = await Promise.all(everyPage.map((query) => store.list(query)));
    await store.close();

    const database = await openDatabase(options);
    const { list } = createPlantReader(database);
    for (const [i, query] of everyPage.entries()) expect(together[i]).toEqual(await list(query));
    await database.close();
    await remove();
  });
});

describe('lists', () => {
  /** Opens a database, and counts the statements that it reads with. */
  async function countingDatabase() {
    const databaseUrl = await createDatabase(inject('postgresUrl'));
    const sql = postgres(databaseUrl, { onnotice: () => {} });
    const database = await openDatabase({ databaseUrl });
    onTestFinished(async () => {
      await sql.end();
      await database.close();
    });
    const read = vi.fn(database.read);
    const list = createLists({ ...database, read }, createPlantReader({ read }).list);
    return { sql, read, list };
  }

  it('sends one statement for the lists that wait, and one more for another size', async () => {
    const { read, list } = await countingDatabase();
    await Promise.all([2, 2, 2, 2, 3, 3].map((limit) => list({ limit })));
    // The first list is sent at once.
    expect(read).toHaveBeenCalledTimes(3);
  });

  it('reads up to 1,000 plants with one statement', async () => {
    const { read, list } = await countingDatabase();
    await Promise.all(Array.from({ length: 31 }, () => list({ limit: 100 })));
    expect(read).toHaveBeenCalledTimes(4);
  });

  it('rejects only the list whose caller has too little memory', async () => {
    const { list } = await countingDatabase();
    const full = new PlantStoreError('overloaded', 'the memory is full');
    const reserve = () => {
      throw full;
    };
    const outcomes = await Promise.allSettled([
      list({ limit: 2 }),
      list({ limit: 2 }, { caller: { isGone: false, reserve } }),
      list({ limit: 2 }),
    ]);
    const page = { status: 'fulfilled', value: { plants: [] } };
    expect(outcomes).toEqual([page, { status: 'rejected', reason: full }, page]);
  });

  it('rejects only the list whose tag the database cannot compare', async () => {
    const { list } = await countingDatabase();
    const outcomes = await Promise.allSettled(
      ['herb', 'a\0b', 'herb'].map((tag) => list({ limit: 2, tag })),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('lists a plant whose name the operator has removed', async () => {
    const { sql, list } = await countingDatabase();
    await sql`alter table plants alter name drop not null`;
    await sql`insert into plants (id, name, tag) values (1, null, 'herb'), (2, 'a', null)`;
    const { plants } = await list({ limit: 2 });
    expect(plants.map(({ id }) => id)).toEqual([1n, 2n]);
  });

  it('lists alone on a database that cannot run the statement for several lists', async () => {
    const { read, list } = await countingDatabase();
    const notSupported = Object.assign(new Error('not supported'), {
      code: '0A000',
      severity: 'ERROR',
    });
    read.mockRejectedValueOnce(notSupported);
    expect(await list({ limit: 2 })).toEqual({ plants: [] });
    await Promise.all([list({ limit: 2 }), list({ limit: 2 })]);
    expect(read).toHaveBeenCalledTimes(4);
  });
});

import { describe, expect, it, vi } from 'vitest';
import { deadlineIn } from '../../src/database/deadline.ts';
import { createLists } from '../../src/group-commit/lists.ts';
import { openDatabase } from '../../src/open-database.ts';
import { openPlantStore } from '../../src/plant-store.ts';
import { PlantStoreError } from '../../src/plant-store-error.ts';
import { createPlantReader } from '../../src/plants/plant-reader.ts';
import { selectSmallPages, smallPageValues } from '../../src/plants/small-pages.ts';
import { closeAtEnd, connectToNew, embedded, server } from '../fixtures/databases.ts';

const everyPage = [undefined, -1n, 0n, 3n, 2n ** 63n - 1n].flatMap((after) =>
  [undefined, 'herb', 'a "tag" with \\ and {,}', 'none'].flatMap((tag) =>
    [1, 2, 100, 1_000].map((limit) => ({ after, tag, limit })),
  ),
);

/** Plants with names of up to 600,000 characters. Some plants have tags. */
const plants = [-(2n ** 63n), -1n, 0n, 1n, 2n, 3n, 4n, 2n ** 63n - 1n].map((id, i) => ({
  id,
  name: 'n'.repeat([1, 2_000, 20_000, 600_000][i % 4] ?? 1),
  ...(i % 3 > 0 && { tag: i % 3 === 1 ? 'herb' : 'a "tag" with \\ and {,}' }),
}));

describe.each([embedded, server])('lists on $name', ({ provide }) => {
  it('returns the same pages for parallel lists as for lists in sequence', async () => {
    const { options, remove } = await provide();
    const store = await openPlantStore(options, { requireConnection: true });
    for (const plant of plants) await store.create(plant);
    const deadline = deadlineIn(60_000);
    const together = await Promise.all(everyPage.map((query) => store.list(query, { deadline })));
    await store.close();

    const database = await openDatabase(options);
    const { list } = createPlantReader(database);
    for (const [i, query] of everyPage.entries()) {
      expect(together[i]).toEqual(await list(query, { deadline: deadlineIn(60_000) }));
    }
    await database.close();
    await remove();
  });
});

describe('lists', () => {
  /** Opens a database that counts its read statements. */
  async function countingDatabase() {
    const { databaseUrl, sql } = await connectToNew();
    const database = closeAtEnd(await openDatabase({ databaseUrl }, { requireConnection: true }));
    const read = vi.fn(database.read);
    const list = createLists({ ...database, read }, createPlantReader({ read }).list);
    return { sql, read, list };
  }

  it('sends one statement for all waiting lists with the same limit', async () => {
    const { read, list } = await countingDatabase();
    await Promise.all([2, 2, 2, 2, 3, 3].map((limit) => list({ limit })));
    // The first list is sent immediately. The other lists wait, and share one statement for each limit.
    expect(read).toHaveBeenCalledTimes(3);
  });

  it('reads at most 1,000 plants with one statement', async () => {
    const { read, list } = await countingDatabase();
    await Promise.all(Array.from({ length: 31 }, () => list({ limit: 100 })));
    expect(read).toHaveBeenCalledTimes(4);
  });

  it('rejects only the list whose caller can reserve no memory', async () => {
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

  it('rejects only the list with an invalid tag, and not the other lists', async () => {
    const { list } = await countingDatabase();
    const outcomes = await Promise.allSettled(
      ['herb', 'a\0b', 'herb'].map((tag) => list({ limit: 2, tag })),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('sends a separate statement for each list when the database does not support a statement for several lists', async () => {
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

  it('reserves less than 1 MiB of memory for 128 lists of one plant each', async () => {
    const { list } = await countingDatabase();
    let reserved = 0;
    const reserve = (bytes: number) => {
      reserved += bytes;
      return () => {};
    };
    const lists = Array.from({ length: 128 }, () =>
      list({ limit: 1 }, { caller: { isGone: false, reserve } }),
    );
    await Promise.all(lists);
    expect(reserved).toBeLessThan(2 ** 20);
  });

  it('does not release the memory of a list that was rejected at its deadline', async () => {
    const { read, list } = await countingDatabase();
    const late = Promise.withResolvers<never>();
    read.mockReturnValueOnce(late.promise);
    const settle = vi.fn();
    const caller = { isGone: false, reserve: () => settle };
    vi.useFakeTimers();
    const outcome = list({ limit: 2 }, { caller });
    const ended = expect(outcome).rejects.toThrow('the database did not respond');
    await vi.advanceTimersByTimeAsync(5_000);
    vi.useRealTimers();
    await ended;
    late.reject(new Error('the statement was cancelled'));
    await list({ limit: 2 });
    expect(settle).not.toHaveBeenCalled();
  });

  it('rejects all waiting lists as `databaseUnavailable` when the database does not respond', async () => {
    const { read, list } = await countingDatabase();
    await list({ limit: 1_000 });
    read.mockReturnValue(new Promise<never>(() => {}));
    const lists = Array.from({ length: 4 }, () =>
      list({ limit: 1_000 }, { deadline: performance.now() + 100 }),
    );
    const outcomes = await Promise.allSettled(lists);
    const down = { status: 'rejected', reason: { kind: 'databaseUnavailable' } };
    expect(outcomes).toMatchObject(lists.map(() => down));
  });

  it.each([1, 100, 1_000])(
    'with the limit %i, reads only one page of plants even after the table has grown',
    async (limit) => {
      const { sql } = await countingDatabase();
      await sql`alter table plants set (autovacuum_enabled = false)`;
      const session = await sql.reserve();
      await session.unsafe(`prepare page as ${selectSmallPages({ tag: 'herb', limit })}`);
      const values = smallPageValues([{ tag: 'herb', limit }]).map((value) => `'${value}'`);
      const execute = `execute page (${values})`;
      for (let i = 0; i < 6; i++) await session.unsafe(execute);
      await session`insert into plants select n, 'a', 'herb' from generate_series(1, 20000) as n`;
      const rows = await session.unsafe(`explain (analyze, format json) ${execute}`);
      session.release();
      expect(JSON.stringify(rows)).not.toContain('Bitmap');
    },
  );

  it('stays below the estimated cost at which Postgres compiles a statement', async () => {
    const { sql } = await countingDatabase();
    await sql`insert into plants select n, 'a', 'herb' from generate_series(1, 100000) as n`;
    await sql`analyze plants`;
    const session = await sql.reserve();
    for (const limit of [1, 100, 1_000]) {
      const page = { after: 1n, limit };
      await session.unsafe(`prepare page${limit} as ${selectSmallPages(page)}`);
      const values = smallPageValues([page]).map((value) => `'${value}'`);
      const [row] = await session.unsafe(`explain (format json) execute page${limit} (${values})`);
      expect(row?.['QUERY PLAN'][0].Plan['Total Cost']).toBeLessThan(5_000);
    }
    session.release();
  });
});

import { scopes } from '@plant-store/schemas';
import { beforeAll, describe, expect, it } from 'vitest';
import { createCaller } from '../../src/procedures/router.ts';
import { openAnother, openForSuite, urlOf } from '../fixtures/open-store.ts';
import { createAll, idsOf, listPages, maxId, minId, newPlants } from '../fixtures/plants.ts';
import { profiles } from '../fixtures/profiles.ts';
import { allTables, createRole } from '../fixtures/roles.ts';

const quoted = 'a "tag" with \\ and {,} \' 🌿';

/** Plants with names of up to 600,000 characters. Some plants have tags. */
const plants = [minId, -1n, 0n, 1n, 2n, 2n ** 53n + 1n, maxId - 1n, maxId].map((id, i) => ({
  id,
  name: 'n'.repeat([1, 2_000, 20_000, 600_000][i % 4] ?? 1),
  ...(i % 3 > 0 && { tag: i % 3 === 1 ? 'herb' : quoted }),
}));

describe.each(profiles)('list on $name', (profile) => {
  const suite = openForSuite(profile);

  beforeAll(async () => {
    for (const plant of plants) await suite.store.create(plant);
  });

  const expectedIds = (tag: string | undefined) =>
    idsOf(plants.filter((plant) => tag === undefined || plant.tag === tag));

  it('returns every plant once, in ascending order of id, whatever the limit is', async () => {
    for (const tag of [undefined, 'herb', quoted, 'none', 'Herb', '']) {
      for (const limit of [1, 2, 3, 8, 1_000]) {
        const pages = await listPages(suite.store, { ...(tag !== undefined && { tag }), limit });
        expect(idsOf(pages.flat()), `${tag} by ${limit}`).toEqual(expectedIds(tag));
        expect(Math.max(...pages.map(({ length }) => length))).toBeLessThanOrEqual(limit);
      }
    }
  });

  it('returns the content of the plants, and no `next` on the last page', async () => {
    const page = await suite.store.list({ after: 0n, limit: 2 });
    expect(page.plants).toEqual(
      plants.slice(3, 5).map((plant) => ({ ...plant, createdAt: expect.any(Date) })),
    );
    const last = await suite.store.list({ after: maxId - 1n, limit: 2 });
    expect(idsOf(last.plants)).toEqual([maxId]);
    expect(last).not.toHaveProperty('next');
    expect(await suite.store.list({ after: maxId, limit: 2 })).toEqual({ plants: [] });
  });

  it('has no `next` when the limit is exactly the number of plants', async () => {
    const page = await suite.store.list({ tag: 'herb', limit: 3 });
    expect(page.plants).toHaveLength(3);
    expect(page).not.toHaveProperty('next');
  });

  it('returns the same pages to concurrent callers as to sequential callers', async () => {
    const queries = [minId, -1n, 0n, 1n, maxId].flatMap((after) =>
      [undefined, 'herb', quoted].flatMap((tag) =>
        [1, 2, 100].map((limit) => ({ after, limit, ...(tag !== undefined && { tag }) })),
      ),
    );
    const together = await Promise.all(queries.map((query) => suite.store.list(query)));
    for (const [i, query] of queries.entries()) {
      expect(together[i]).toEqual(await suite.store.list(query));
    }
  });

  it('returns at most 1 MiB of names and tags in a page, but at least one plant', async () => {
    const tag = 'é'.repeat(100_000);
    const bytes = [2 ** 19, 2 ** 19, 2 ** 19, 2 ** 19 + 1, 2 ** 20 + 1, 2 ** 19];
    const large = newPlants(bytes.length).map((plant, i) => ({
      ...plant,
      tag,
      name: 'x'.repeat((bytes[i] ?? 0) - 200_000),
    }));
    for (const plant of large) await suite.store.create(plant);
    const pages = await listPages(suite.store, { tag });
    expect(pages.map(({ length }) => length)).toEqual([2, 1, 1, 1, 1]);
    expect(idsOf(pages.flat())).toEqual(idsOf(large));
  });

  it('lists a long name between short names in one page', async () => {
    const names = ['short', 'long'.repeat(50_000), ''];
    const mixed = newPlants(3).map((plant, i) => ({
      ...plant,
      tag: 'mixed',
      name: names[i] ?? '',
    }));
    await createAll(suite.store, mixed);
    for (const limit of [100, 3]) {
      const page = await suite.store.list({ tag: 'mixed', limit });
      expect(page.plants.map(({ name }) => name)).toEqual(names);
      expect(page).not.toHaveProperty('next');
    }
  });

  it('lists each remaining plant exactly once while a client creates and deletes other plants', async () => {
    const walked = newPlants(3_000, { name: 'x', tag: 'walk' });
    const staying = walked.filter((_, i) => i % 3 === 0);
    await createAll(
      suite.store,
      walked.filter((_, i) => i % 3 < 2),
    );
    let isWalking = true;
    const change = async () => {
      for (let i = 0; isWalking; i = (i + 3) % 3_000) {
        const [, gone, coming] = walked.slice(i, i + 3);
        if (gone) await suite.store.delete(gone.id);
        if (coming) await suite.store.create(coming);
      }
    };
    const changing = change();
    const seen = idsOf((await listPages(suite.store, { tag: 'walk', limit: 50 })).flat());
    isWalking = false;
    await changing;
    expect(new Set(seen).size).toBe(seen.length);
    const stayed = new Set(idsOf(staying));
    expect(seen.filter((id) => stayed.has(id))).toEqual(idsOf(staying));
  });

  it('lists 100 plants unless the caller sets a limit', async () => {
    const caller = createCaller({ store: suite.store, principal: { name: 'test', scopes } });
    await createAll(suite.store, newPlants(101, { name: 'x', tag: 'hundred' }));
    expect((await caller.listPlants({ tag: 'hundred' })).plants).toHaveLength(100);
  });

  if (!profile.hasSql) return;

  it('lists the plants of a rare tag, and the table has an index on the tag', async () => {
    const { sql } = suite;
    await sql`
      insert into plants (id, name, tag)
      select 10000000 + i, 'x', case when i % 1000 = 0 then 'rare' else 'frequent' end
      from generate_series(1, 50000) as i`;
    await sql`analyze plants`;
    const plan = await sql`
      select indexdef from pg_indexes where tablename = 'plants' and indexdef like '%tag%'`;
    expect(plan).toHaveLength(1);
    expect((await suite.store.list({ tag: 'rare', limit: 1_000 })).plants).toHaveLength(50);
  });

  if (!profile.hasTriggers) return;

  it('rejects only the list that causes an error, and no concurrent list', async () => {
    const { sql, options } = suite;
    await createAll(suite.store, newPlants(3, { name: 'x', tag: 'small' }));
    const { url } = await createRole(sql, urlOf(options), { grants: [allTables] });
    // Only a page with a large plant needs this function.
    await sql`revoke execute on function row_number() from public`;
    const store = await openAnother(url);
    for (const unreadable of ['a\0b', 'herb']) {
      const tags = ['small', unreadable, 'small'];
      const outcomes = await Promise.allSettled(tags.map((tag) => store.list({ limit: 2, tag })));
      expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    }
  });
});

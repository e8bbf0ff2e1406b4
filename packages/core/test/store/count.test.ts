import { scopes } from '@plant-store/schemas';
import { describe, expect, it } from 'vitest';
import { createCaller } from '../../src/procedures/router.ts';
import { openForSuite } from '../fixtures/open-store.ts';
import { createAll, newPlants } from '../fixtures/plants.ts';
import { profiles } from '../fixtures/profiles.ts';

describe.each(profiles)('count on $name', (profile) => {
  const suite = openForSuite(profile);
  const caller = () => createCaller({ store: suite.store, principal: { name: 'test', scopes } });
  const count = (query: { tag?: string } = {}) => caller().countPlants(query);

  it('counts all plants, or the plants with a tag', async () => {
    const tag = `100%s \\ 'quoted' "tag" 🌻`;
    expect(await count()).toEqual({ count: 0, isExact: true });
    const plants = [...newPlants(7, { name: 'x', tag }), ...newPlants(2_000)];
    await createAll(suite.store, plants);
    expect(await count()).toEqual({ count: 2_007, isExact: true });
    expect(await count({ tag })).toEqual({ count: 7, isExact: true });
    expect(await count({ tag: '100%s' })).toEqual({ count: 0, isExact: true });
    await suite.store.delete(plants[0]?.id ?? 0n);
    expect(await count({ tag })).toEqual({ count: 6, isExact: true });
  });

  if (!profile.hasSql) return;

  it('says that a count beyond a million is not exact', async () => {
    const { sql } = suite;
    await sql`truncate plants`;
    await sql`insert into plants (id, name) select i, '' from generate_series(1, 1000001) as i`;
    expect(await count()).toEqual({ count: 1_000_000, isExact: false });
    await sql`delete from plants where id = 1`;
    expect(await count()).toEqual({ count: 1_000_000, isExact: true });
  });
});

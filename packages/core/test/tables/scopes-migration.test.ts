import { createHash } from 'node:crypto';
import type postgres from 'postgres';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { openPlantStore } from '../../src/plant-store.ts';
import { closeAtEnd, connectToNew } from '../fixtures/databases.ts';
import { createOldTables } from '../fixtures/old-tables.ts';

/** Statements of the version of the store that had no scopes. */
const oldInsert = 'insert into plants (id, name, tag) values ($1, $2, $3) on conflict do nothing';
const oldSelect = 'select sha256, name, created_at, expires_at, revoked_at, last_used_at';

let databaseUrl: string;
let sql: postgres.Sql;

const oldToken = 'an old token';

/** Makes a database like the version that had no scopes, with a plant and a token. */
beforeEach(async () => {
  ({ databaseUrl, sql } = await connectToNew());
  await createOldTables(databaseUrl, 2);
  await sql.unsafe(oldInsert, [1, 'Monstera deliciosa', 'Araceae']);
  const sha256 = createHash('sha256').update(oldToken).digest();
  await sql`insert into access_tokens (sha256, name) values (${sha256}, 'old')`;
});

describe('the migration to scopes', () => {
  it('gives an old token only the scope to create plants', async () => {
    const store = closeAtEnd(await openPlantStore({ databaseUrl }));
    const principal = { name: 'old', scopes: ['plants:create'] };
    expect(await store.accessTokens.authenticate(oldToken)).toMatchObject(principal);
    expect(await store.get(1n)).toMatchObject({ name: 'Monstera deliciosa', tag: 'Araceae' });
  });

  it('lets an instance of the old version work on the migrated tables', async () => {
    const store = closeAtEnd(await openPlantStore({ databaseUrl }));
    await sql.unsafe(oldInsert, [4, 'Calathea', 'Marantaceae']);
    await sql`insert into access_tokens (sha256, name) values (${Buffer.alloc(32)}, 'by the old one')`;
    expect(await sql.unsafe(`${oldSelect} from access_tokens`)).toHaveLength(2);
    expect(await store.list({ tag: 'Marantaceae', limit: 1 })).toMatchObject({
      plants: [{ id: 4n }],
    });
    const { tokens } = await store.accessTokens.list();
    expect(tokens.map(({ scopes }) => scopes)).toEqual([['plants:create'], ['plants:create']]);
  });

  it('uses the index for a list of plants with a tag', async () => {
    const store = await openPlantStore({ databaseUrl });
    await sql`
      insert into plants (id, name, tag)
      select i, 'x', case when i % 1000 = 0 then 'rare' else 'frequent' end
      from generate_series(10, 100000) as i`;
    await sql`analyze plants`;
    const scans = async () => {
      const [row] = await sql`
        select idx_scan, idx_tup_read from pg_stat_user_indexes where indexrelname = 'plants_tag'`;
      // The cast is safe, because the statement returns one row with these two columns.
      return row as { idx_scan: string; idx_tup_read: string };
    };
    const { plants } = await store.list({ tag: 'rare', limit: 1000 });
    expect(plants).toHaveLength(100);
    await store.close(); // A session reports its statistics when it ends, or within 10 s.
    await vi.waitFor(async () => expect(Number((await scans()).idx_scan)).toBeGreaterThan(0));
    expect(Number((await scans()).idx_tup_read)).toBeLessThan(1000);
  });
});

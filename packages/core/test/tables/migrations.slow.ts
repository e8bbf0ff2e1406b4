import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { openPlantStore } from '../../src/plant-store.ts';
import { migrationsFolder } from '../../src/tables/schema-version.ts';
import { connectToNew } from '../fixtures/databases.ts';

const run = promisify(execFile);

it('creates the expected tables and columns', async () => {
  const { databaseUrl, sql } = await connectToNew();
  await (await openPlantStore({ databaseUrl })).close();
  const columns = await sql`
    select table_name, column_name, data_type, is_nullable, column_default
    from information_schema.columns where table_schema = 'public' order by table_name, ordinal_position`;
  const durable = `CASE WHEN (current_setting('synchronous_commit'::text) = 'off'::text) THEN CASE WHEN (set_config('synchronous_commit'::text, 'local'::text, true) = 'local'::text) THEN pg_current_xact_id() ELSE NULL::xid8 END ELSE pg_current_xact_id() END`;
  const texts = columns.map((column) => Object.values(column).join(' ').trimEnd());
  expect(texts.map((text) => text.replaceAll(/\s+/g, ' '))).toEqual([
    'access_tokens sha256 bytea NO',
    'access_tokens name text NO',
    'access_tokens created_at timestamp with time zone NO now()',
    'access_tokens expires_at timestamp with time zone YES',
    'access_tokens revoked_at timestamp with time zone YES',
    'access_tokens last_used_at timestamp with time zone YES',
    "access_tokens scope text NO 'plants:create'::text",
    'plant_deletions id bigint NO',
    'plant_deletions name text NO',
    'plant_deletions tag text YES',
    'plant_deletions created_at timestamp with time zone NO',
    'plant_deletions created_in xid8 YES',
    `plant_deletions changed_in xid8 NO ${durable}`,
    'plant_deletions deleted_at timestamp with time zone NO now()',
    'plant_feed epoch uuid NO gen_random_uuid()',
    "plant_feed forgotten_up_to xid8 NO '0'::xid8",
    'plant_feed system_identifier bigint NO (pg_control_system()).system_identifier',
    'plant_feed timeline text NO "left"(pg_walfile_name(pg_current_wal_insert_lsn()), 8)',
    'plants id bigint NO',
    'plants name text NO',
    'plants tag text YES',
    'plants created_at timestamp with time zone NO now()',
    `plants changed_in xid8 YES ${durable}`,
    'webhooks name text NO',
    'webhooks url text NO',
    'webhooks tag text YES',
    'webhooks change_type text YES',
    'webhooks created_at timestamp with time zone NO now()',
    'webhooks secret text NO',
    'webhooks old_secret text YES',
    'webhooks old_secret_until timestamp with time zone YES',
    'webhooks cursor text NO',
    'webhooks message jsonb YES',
    'webhooks failures integer NO 0',
    'webhooks next_attempt_at timestamp with time zone YES',
    "webhooks attempts jsonb NO '[]'::jsonb",
    'webhooks behind_since timestamp with time zone YES',
    'webhooks paused_at timestamp with time zone YES',
    'webhooks paused_because text YES',
    'webhooks revision integer NO 0',
    'webhooks holder uuid YES',
    'webhooks held_until timestamp with time zone YES',
  ]);
});

it('migrates an empty database only once when several instances start at the same time', async () => {
  const { databaseUrl, sql } = await connectToNew();
  const source = `
    import { openPlantStore } from ${JSON.stringify(new URL('../../src/index.ts', import.meta.url).href)};
    const store = await openPlantStore({ databaseUrl: ${JSON.stringify(databaseUrl)} });
    // On a busy machine, an instance may wait too long for the migration of another instance.
    const create = () => store.create({ id: BigInt(process.argv[1]), name: 'x' }).catch(create);
    await create();
    await store.close();`;
  const instances = Array.from({ length: 5 }, (_, i) =>
    run(process.execPath, ['--input-type=module', '-e', source, String(i)]),
  );
  await Promise.all(instances);
  expect(await sql`select count(*)::int from plants`).toEqual([{ count: 5 }]);
  const { entries } = JSON.parse(
    await readFile(join(migrationsFolder, 'meta/_journal.json'), 'utf8'),
  );
  expect(await sql`select count(*)::int from drizzle.__drizzle_migrations`).toEqual([
    { count: entries.length },
  ]);
});

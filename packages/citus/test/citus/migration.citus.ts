import { describe, expect, it, vi } from 'vitest';
import type { Query } from '../../../core/src/database/query.ts';
import { createConnectToPrimary } from '../../../core/src/postgres/connect-to-primary.ts';
import { buildIndexes } from '../../../core/src/tables/indexes.ts';
import { connect, createDistributedDatabase, openStore } from '../fixtures/distributed-database.ts';

describe('the migration on Citus', () => {
  it('builds the index on tags again when the index is missing on one worker', async () => {
    const { url, workerUrls, adminUrl } = await createDistributedDatabase();
    const open = (databaseUrl: string) => connect(databaseUrl, { prepare: false });
    const [owner, admin, worker] = [open(url), open(adminUrl), open(workerUrls[0] ?? '')];
    // Undoes the migration that adds the index, and all later migrations.
    await owner`alter table access_tokens drop column scope`;
    await owner`set citus.enable_unsafe_triggers = on`;
    await owner`drop trigger plant_store_number on plants`;
    await owner`drop trigger plant_store_note_deletions on plants`;
    await owner`alter table plants drop column changed_in`;
    await owner`drop table plant_deletions, plant_feed, webhooks`;
    await owner`
      delete from drizzle.__drizzle_migrations where id not in (
        select id from drizzle.__drizzle_migrations order by id limit 2)`;
    // Makes the index invalid on the coordinator, and drops the index on each shard of one worker.
    await admin`update pg_index set indisvalid = false where indexrelid = 'plants_tag'::regclass`;
    await worker`set citus.enable_manual_changes_to_shards = on`;
    const shards = await worker<{ index: string }[]>`
      select 'plants_tag_' || shardid as index from pg_dist_placement
        join pg_dist_shard using (shardid) join pg_dist_local_group using (groupid)
      where logicalrelid = 'plants'::regclass`;
    expect(shards).toHaveLength(2);
    for (const { index } of shards) await worker.unsafe(`drop index ${index}`);

    await (await openStore(url, { requireConnection: true })).ready();
    const [{ valid } = {}] = await owner`
      select count(*)::int as valid from run_command_on_shards('plants', $$
        select indisvalid from pg_index where indexrelid = replace('%s', 'plants', 'plants_tag')::regclass
      $$) where result = 't'`;
    expect(valid).toBe(4);
  });

  it('waits while another instance builds the index on tags', async () => {
    const { url, workerUrls } = await createDistributedDatabase();
    const worker = connect(workerUrls[0] ?? '', { max: 2, prepare: false });
    await connect(url)`drop index plants_tag`;
    const [{ shard } = {}] = await worker`
      select shard_name(logicalrelid, shardid) as shard from pg_dist_placement
        join pg_dist_shard using (shardid) join pg_dist_local_group using (groupid)
      where logicalrelid = 'plants'::regclass limit 1`;
    const other = await worker.reserve();
    // This transaction locks a shard, so the build of the index waits until the transaction ends.
    await other`begin`;
    await other`set local citus.enable_manual_changes_to_shards = on`;
    await other.unsafe(`lock table ${shard} in row exclusive mode`);

    const build = async () => {
      const connection = await createConnectToPrimary(url, {
        timeout: 60_000,
        lockTimeout: 60_000,
      })();
      const sent: string[] = [];
      const query: Query = (text, ...rest) => {
        sent.push(text.trim().split(' ', 1).join());
        return connection.query(text, ...rest);
      };
      const built = buildIndexes(query).finally(() => connection.close());
      return { sent, built };
    };
    const first = await build();
    await vi.waitFor(async () => {
      const builds = await worker`
        select from pg_stat_progress_create_index where datname = current_database()`;
      expect(builds.length).toBeGreaterThan(0);
    });
    const second = await build();
    await vi.waitFor(() => expect(second.sent.length).toBeGreaterThan(1));
    await other`commit`;
    other.release();
    await Promise.all([first.built, second.built]);
    expect(first.sent).toEqual(['select', 'create', 'select', 'select']);
    expect(new Set(second.sent)).toEqual(new Set(['select']));
  });
});

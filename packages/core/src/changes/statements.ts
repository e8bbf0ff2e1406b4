import { columns, contentBytes, maxPageBytes, plantArrays } from '../plants/statements.ts';

/**
 * SQL for the condition that a change is after the cursor and before the oldest running transaction. If the
 * last line compared only `changed_in`, the planner would read all deletions after the cursor for each page.
 */
const isInPage = `
      changed_in >= $1::xid8 and (changed_in, id) > ($1::xid8, $2::bigint)
      and (changed_in, id) < ((select up_to from feed), -9223372036854775808)`;

/**
 * Selects one row: the state of the feed as JSON, and a page of changes. The columns of the page are arrays
 * in JSON: the transaction numbers, the types, and each column of the plants. A read replica has no feed.
 *
 * - `epoch` identifies the database and its history. This value changes when somebody restores a backup,
 *   promotes a standby, or truncates or rewrites a table. Each transaction number may then belong to other changes.
 * - `up_to` is the number of the oldest running or of the next transaction. A page has only changes with lower numbers, in
 *   the order of these numbers. So no change can later appear before the cursor of a client. Defaults in
 *   `tables.ts` and `replacePlant` set the columns `created_in` and `changed_in`.
 * - `candidates` leaves out a deletion if a transaction with no higher number created the plant again. For
 *   example, transaction 5 waits until 6 has deleted the plant, and then creates it. A client that applies the
 *   deletion would delete the new plant, which is in `plants`, or in `plant_deletions` if it was deleted.
 * - `isHeldBack` says whether a running transaction hides changes. `started` excludes the numbers in a
 *   restored dump, because another server may have had higher numbers than this server.
 * - `latest` is the highest number of a transaction with changes, for the cursor of the feed's end.
 *
 * $1 the cursor's transaction, or null for the end of the feed, $2 the cursor's id, $3 changes in a page
 */
export const selectChanges = `
  with feed as materialized (
    select
      left(md5(concat_ws(' ', plant_feed.epoch, (select system_identifier from pg_control_system()),
        left(pg_walfile_name(pg_current_wal_insert_lsn()), 8),
        (select oid from pg_database where datname = current_database()),
        pg_relation_filenode('plants'), pg_relation_filenode('plant_deletions'))), 16) as epoch,
      forgotten_up_to,
      pg_snapshot_xmin(pg_current_snapshot()) as up_to,
      pg_snapshot_xmax(pg_current_snapshot()) as started
    from plant_feed limit 1
  ), candidates as (
    (select case when updated_at is null then 'created' else 'updated' end as type, ${columns}, changed_in
      from plants where ${isInPage}
      order by changed_in, id limit $3::int + 1)
    union all
    (select 'deleted', ${columns}, changed_in
      from plant_deletions as deleted where ${isInPage}
      and not exists (select from plants
        where plants.id = deleted.id and plants.created_in <= deleted.changed_in)
      and not exists (select from plant_deletions as later
        where later.id = deleted.id and later.changed_in > deleted.changed_in
          and later.created_in <= deleted.changed_in)
      order by changed_in, id limit $3::int + 1)
    order by changed_in, id limit $3::int + 1
  ), measured as (
    select *, row_number() over in_order as place,
      sum(least(${contentBytes}, ${maxPageBytes})) over in_order as bytes
    from candidates window in_order as (order by changed_in, id rows unbounded preceding)
  )
  select
    json_build_object('epoch', epoch, 'forgottenUpTo', forgotten_up_to::text, 'upTo', up_to::text,
      'candidates', (select count(*) from candidates),
      'isHeldBack', exists (
        (select 1 from plants where changed_in >= (select up_to from feed)
          and changed_in < (select started from feed)
          order by changed_in limit 1)
        union all
        (select 1 from plant_deletions where changed_in >= (select up_to from feed)
          and changed_in < (select started from feed)
          order by changed_in limit 1)),
      'latest', case when $1::xid8 is null then (
        select changed_in::text from (
          (select changed_in from plants where changed_in < (select up_to from feed)
            order by changed_in desc limit 1)
          union all
          (select changed_in from plant_deletions where changed_in < (select up_to from feed)
            order by changed_in desc limit 1)
          union all select forgotten_up_to from feed
        ) as latest order by latest.changed_in desc limit 1) end)::text,
    page.*
  from feed cross join (
    select json_agg(changed_in::text)::text, json_agg(type)::text, ${plantArrays()}
    from (
      select * from measured where place <= $3::int and (bytes <= ${maxPageBytes} or place = 1)
      order by place
    ) as page
  ) as page`;

/**
 * Selects at most two transaction numbers since a time: the first in `plants`, and the first in `plant_deletions`.
 *
 * $1 the time
 */
export const selectFirstSince = `
  (select changed_in::text from plants where coalesce(updated_at, created_at) >= $1::timestamptz
    order by changed_in limit 1)
  union all
  (select changed_in::text from plant_deletions where deleted_at >= $1::timestamptz
    order by changed_in limit 1)`;

/**
 * Forgets the oldest deletions: removes them from the feed, and saves their last transaction number. Returns
 * the number of these deletions. Does nothing while another instance runs this statement.
 *
 * $1 the minimum age in days, $2 the maximum number of deletions
 */
export const forgetDeletions = `
  with oldest as materialized (
    select changed_in, id, deleted_at from plant_deletions
    where (select pg_try_advisory_xact_lock(hashtext('plant-store forget')))
    order by changed_in, id limit $2::int
  ), old as materialized (
    select changed_in, id from oldest where deleted_at < now() - make_interval(days => $1::int)
  ), forgotten as (
    delete from plant_deletions using old
    where (plant_deletions.changed_in, plant_deletions.id) = (old.changed_in, old.id) returning old.id
  ), moved as (
    update plant_feed set forgotten_up_to = last.changed_in
    from (select changed_in from old order by changed_in desc limit 1) as last
    where forgotten_up_to < last.changed_in
  ) select count(*)::text from forgotten`;

/**
 * Forgets all deletions after the restore of another server's dump, because their transaction numbers are not
 * valid on this server. Run this statement when the store opens.
 */
export const forgetForeignDeletions = `
  with renewed as (
    update plant_feed set system_identifier = default, forgotten_up_to = default
    where system_identifier <> (select system_identifier from pg_control_system())
    returning epoch
  )
  delete from plant_deletions where exists (select from renewed)`;

/** Inserts the only row of `plant_feed` into a new database. */
export const beginFeed = `
  insert into plant_feed (epoch) select gen_random_uuid()
  where not exists (select from plant_feed)`;

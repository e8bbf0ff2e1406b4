import { arraysJson } from '../plants/statements.ts';

/** The maximum size of the names and tags in a page, in bytes. The first change of a page may be larger. */
const maxPageBytes = 2 ** 20;

/** The columns of a plant. */
const columns = 'id, name, tag, created_at, updated_at';

/**
 * An identifier of the database and its history. It changes when somebody restores a backup, promotes a
 * standby, or truncates a table: a transaction number then stands for other changes.
 */
const epoch = `
  left(md5(concat_ws(' ', plant_feed.epoch, (select system_identifier from pg_control_system()),
    left(pg_walfile_name(pg_current_wal_insert_lsn()), 8),
    (select oid from pg_database where datname = current_database()),
    pg_relation_filenode('plants'), pg_relation_filenode('plant_deletions'))), 16)`;

/** SQL that selects the first changes of a table after the cursor. */
const changesOf = (type: string, table: string, condition = 'true') => `
  (select ${type} as type, ${columns}, changed_in from ${table}
    where changed_in >= $1::xid8 and (changed_in, id) > ($1::xid8, $2::bigint) and changed_in < up_to
      and ${condition}
    order by changed_in, id limit $3::int + 1)`;

/**
 * SQL for the condition that the plant of a deletion was not created again by a transaction with a lower
 * number. Such a create has waited for the deletion, but stands before it in the feed. Clients would delete the
 * new plant. The new plant is stored, or was deleted later.
 */
const isNotOvertaken = `
  not exists (select from plants
    where plants.id = deleted.id and plants.created_in <= deleted.changed_in)
  and not exists (select from plant_deletions as later
    where later.id = deleted.id and later.changed_in > deleted.changed_in
      and later.created_in <= deleted.changed_in)`;

const changes = `
  ${changesOf(`case when updated_at is null then 'created' else 'updated' end`, 'plants')} union all
  ${changesOf(`'deleted'`, 'plant_deletions as deleted', isNotOvertaken)}
  order by changed_in, id limit $3::int + 1`;

/** The highest number of a transaction with changes. The cursor of the feed's end contains this number. */
const latest = `
  (select changed_in::text from (
    (select changed_in from plants where changed_in < up_to order by changed_in desc limit 1)
    union all
    (select changed_in from plant_deletions where changed_in < up_to order by changed_in desc limit 1)
    union all select forgotten_up_to
  ) as latest order by latest.changed_in desc limit 1)`;

/**
 * Whether a running transaction hides changes. The numbers in a restored dump of another server may be higher
 * than all numbers of this server.
 */
const isHeldBack = `
  exists (
    (select from plants where changed_in >= up_to and changed_in < started
      order by changed_in limit 1)
    union all
    (select from plant_deletions where changed_in >= up_to and changed_in < started
      order by changed_in limit 1))`;

/**
 * Selects the state of the feed as JSON, and a page of changes in one row: their transactions, their types and
 * the columns of their plants as arrays in JSON. A read replica has no feed.
 *
 * The changes are ordered by transaction number. A page has only the changes of transactions that are older
 * than each running transaction (`up_to`), so no change can later appear before a cursor that a client has.
 *
 * The two limits of 1 make the database evaluate the expressions only once.
 *
 * $1 the cursor's transaction, or null for the end of the feed, $2 the cursor's id, $3 changes in a page
 */
export const selectChanges = `
  select
    json_build_object('epoch', epoch, 'forgottenUpTo', forgotten_up_to::text, 'upTo', up_to::text,
      'isHeldBack', is_held_back, 'latest', latest, 'count', page.count)::text,
    page.*
  from (
    select *, ${isHeldBack} as is_held_back, case when $1::xid8 is null then ${latest} end as latest
    from (
      select ${epoch} as epoch, forgotten_up_to, pg_snapshot_xmin(pg_current_snapshot()) as up_to,
        pg_snapshot_xmax(pg_current_snapshot()) as started
      from plant_feed limit 1
    ) as feed limit 1
  ) as feed
  cross join lateral (
    select json_agg(changed_in::text)::text, json_agg(type)::text, ${arraysJson()},
      json_agg(updated_at at time zone 'UTC')::text,
      coalesce(max(count), 0) as count
    from (
      select *, count(*) over () as count, row_number() over ordered as place,
        sum(least(octet_length(name) + coalesce(octet_length(tag), 0), ${maxPageBytes})) over ordered as bytes
      from (${changes}) as change
      window ordered as (order by changed_in, id rows unbounded preceding)
      order by changed_in, id
    ) as change
    where place <= $3::int and (bytes <= ${maxPageBytes} or place = 1)
  ) as page`;

export const isReadReplica = 'select pg_is_in_recovery()::text';

/**
 * Selects the numbers of the first transactions with changes since a time.
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
 * Forgets the oldest deletions, and notes the last transaction whose deletions are forgotten. Returns the
 * number of forgotten deletions. Does nothing while another instance forgets deletions.
 *
 * $1 the age in days, $2 the maximum number of deletions
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
 * Forgets all deletions after the restore of another server's dump: their transaction numbers mean nothing on
 * this server. Run this statement when the store opens.
 */
export const forgetForeignDeletions = `
  with renewed as (
    update plant_feed set system_identifier = default, forgotten_up_to = default
    where system_identifier <> (select system_identifier from pg_control_system())
    returning epoch
  )
  delete from plant_deletions where exists (select from renewed)`;

/** Begins the feed of a new database. */
export const beginFeed = `
  insert into plant_feed (epoch) select gen_random_uuid()
  where not exists (select from plant_feed)`;

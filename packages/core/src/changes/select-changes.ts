import type { PlantChange } from '@plant-store/schemas';
import { contentBytesSql, storedColumns } from '../plants/columns.ts';
import { maxPageBytes } from '../plants/page-memory.ts';
import { plantJson } from '../plants/plant-json.ts';
import { isCluster } from '../tables/tables.ts';
import { isOwn, timeline } from './epoch/epoch.ts';

/**
 * The identifier of a database and its history. The identifier changes when somebody restores a backup,
 * promotes a standby, or rewrites one of the tables. A transaction number can stand for other changes after
 * such an event.
 */
const epoch = `
  left(md5(concat_ws(' ', epoch, (select system_identifier from pg_control_system()),
    ${timeline},
    (select oid from pg_database where datname = current_database()),
    pg_relation_filenode('plants'), pg_relation_filenode('plant_deletions'), $4::text)), 16)`;

const changesOf = (type: PlantChange['type'], table: string, condition = 'true') => `
  (select '${type}' as type, ${storedColumns}, changed_in from ${table}
    where changed_in >= $1::xid8 and (changed_in, id) > ($1::xid8, $2::bigint) and changed_in < up_to
      and ${condition}
    order by changed_in, id limit $3::int)`;

/**
 * Excludes the deletion of an id when a later create of this id has a lower transaction number. The plant of
 * the later create may be stored, or may already be deleted.
 */
const isNotReplaced = (plants: string, deletions: string) => `coalesce(deletion.changed_in <
    (select changed_in from ${plants} as plant where plant.id = deletion.id), true)
  and not exists (
    select from ${deletions} as later where later.id = deletion.id
      and later.changed_in > deletion.changed_in and later.changed_in < up_to
      and later.created_in < deletion.changed_in)`;

/**
 * SQL for the changes in two tables after a position, in their order. The parameters are the position's
 * transaction, the position's id and the limit. `up_to` is the first transaction that the reader may not see.
 */
export const changesIn = (plants: string, deletions: string) => `
  ${changesOf('created', plants)} union all
  ${changesOf('deleted', `${deletions} as deletion`, isNotReplaced(plants, deletions))}
  order by changed_in, id limit $3::int`;

/** The highest number of a transaction with changes. The cursor of the feed's end contains this number. */
const latest = `(select changed_in from (
    ${['plants', 'plant_deletions']
      .map(
        (table) =>
          `(select changed_in from ${table} where changed_in < up_to order by changed_in desc limit 1)`,
      )
      .join(' union all ')}
    union all select forgotten_up_to
  ) as latest order by changed_in desc limit 1)`;

// With `exists` instead of LIMIT, few changes in the statistics would make the planner read the whole table.
const isHeldBack = ['plants', 'plant_deletions']
  .map(
    (table) => `(select true from ${table} where changed_in >= up_to
    order by changed_in, id limit 1)`,
  )
  .join(' is true or ');

/**
 * Selects a page of changes. The first row also contains the state of the feed (`FeedNow`). The parameters
 * are the cursor's transaction, the cursor's id, the limit, and the database's `copyId`.
 *
 * The window functions read only the rows within the limit. Because of the LIMIT in `bounds`, the database
 * evaluates the expressions in `bounds` only once.
 */
export const selectChanges = `
  select case when place is null or place = 1 then json_build_object(
      'isPrimary', is_primary, 'isCluster', is_cluster, 'isOwn', is_own, 'epoch', bounds.epoch,
      'forgottenUpTo', forgotten_up_to::text, 'upTo', up_to::text, 'isHeldBack', is_held_back,
      'latest', latest::text, 'count', coalesce(count, 0)
    )::text end, changed_in::text, id::text as change_id,
    '{"type":"' || type || '","plant":' || ${plantJson} || '}'
  from (
    select *, (${isHeldBack} is true) as is_held_back,
      case when $1::xid8 is null then ${latest} end as latest
    from (
      select is_primary, ${isCluster} as is_cluster,
        is_primary and ${isOwn} as is_own,
        case when is_primary then ${epoch} else '' end as epoch,
        forgotten_up_to, pg_snapshot_xmin(pg_current_snapshot()) as up_to
      from plant_feed, (select not pg_is_in_recovery() as is_primary) as server limit 1
    ) as feed limit 1
  ) as bounds left join lateral (
    select *, count(*) over () as count,
      sum(least(${contentBytesSql}, ${maxPageBytes})) over (
        order by changed_in, id rows unbounded preceding) as bytes,
      row_number() over (order by changed_in, id) as place
    from (${changesIn('plants', 'plant_deletions')}) as limited
  ) as change on bytes <= ${maxPageBytes} or place = 1
  order by change.changed_in, change.id`;

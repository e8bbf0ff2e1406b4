import type { PlantChange } from '@plant-store/schemas';
import { contentBytesSql, storedColumns } from '../plants/columns.ts';
import { maxPageBytes } from '../plants/page-memory.ts';
import { columnsJson } from '../plants/plant-json.ts';
import { isOwn, timeline } from './epoch/epoch.ts';

/**
 * The identifier of a database and its history. The identifier changes when somebody restores a backup,
 * promotes a standby, or rewrites a table. After a restore or a promotion, a transaction number can stand for
 * other changes.
 */
const epoch = `
  left(md5(concat_ws(' ', epoch, (select system_identifier from pg_control_system()),
    ${timeline},
    (select oid from pg_database where datname = current_database()),
    pg_relation_filenode('plants'), pg_relation_filenode('plant_deletions'))), 16)`;

const changesOf = (
  type: PlantChange['type'],
  table: string,
  createdIn: string,
  condition: string,
) => `
  (select '${type}' as type, ${storedColumns}, changed_in, ${createdIn} as created_in from ${table}
    where changed_in >= $1::xid8 and (changed_in, id) > ($1::xid8, $2::bigint) and changed_in < up_to
      and ${condition}
    order by changed_in, id limit $3::int)`;

/**
 * Excludes a deletion when a later create with the same id has the same transaction number or a lower number.
 * The created plant may be stored, or may already be deleted. `up_to` does not limit the number of its
 * deletion, because an earlier page may contain its create.
 */
const isNotReplaced = (plants: string, deletions: string) => `coalesce(changed_in <
    (select changed_in from ${plants} as plants where plants.id = plant_deletions.id), true)
  and not exists (
    select from ${deletions} as later where later.id = plant_deletions.id
      and later.changed_in > plant_deletions.changed_in
      and later.created_in < plant_deletions.changed_in)`;

/**
 * Whether the plant replaced an older plant, and `isNotReplaced` excludes the deletion of the older plant.
 * The first condition saves a look-up for each plant that was created after the last deletion.
 */
export const isReplacement = (deletions: string) => `
  change.created_in <= (select changed_in from ${deletions} order by changed_in desc limit 1)
  and exists (
  select from ${deletions} as replaced where replaced.id = change.id
    and replaced.changed_in >= change.created_in
    and (type = 'created' or replaced.changed_in < change.changed_in))`;

/**
 * SQL for the changes after a position, from two tables, in the order of the feed. The parameters are the
 * position's transaction, the position's id and the limit. `up_to` is the first transaction that the reader
 * may not see.
 *
 * @param isWanted returns the SQL condition for changes of a type
 */
export const changesIn = (
  plants: string,
  deletions: string,
  isWanted = (_: PlantChange['type']) => 'true',
) => `
  ${changesOf('created', plants, 'changed_in', isWanted('created'))} union all
  ${changesOf('deleted', `${deletions} as plant_deletions`, 'created_in', `${isWanted('deleted')} and ${isNotReplaced(plants, deletions)}`)}
  order by changed_in, id limit $3::int`;

/** SQL that selects one row with the first changes, as many as fit in a page. */
export const pageOf = (changes: string, isReplacementSql: string) => `
    select json_agg(changed_in::text)::text, json_agg(type)::text, json_agg(${isReplacementSql})::text,
      ${columnsJson()}, coalesce(max(count), 0) as count
    from (
      select *, count(*) over () as count,
        sum(least(${contentBytesSql}, ${maxPageBytes})) over (
          order by changed_in, id rows unbounded preceding) as bytes,
        row_number() over (order by changed_in, id) as place
      from (${changes}) as limited
      order by changed_in, id
    ) as change
    where bytes <= ${maxPageBytes} or place = 1`;

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

// `order by` with `limit` makes the planner use the index. With `exists`, the planner might read all rows.
const isHeldBack = ['plants', 'plant_deletions']
  .map(
    (table) => `(select true from ${table} where changed_in >= up_to
    order by changed_in, id limit 1)`,
  )
  .join(' is true or ');

const isOfType = (type: PlantChange['type']) => `coalesce($4::text, '${type}') = '${type}'`;

/**
 * Selects the state of the feed (`FeedNow`) and a page of changes in one row. The parameters are the cursor's
 * transaction, the cursor's id, the limit, and the type of the wanted changes. The
 * type is null when all changes are wanted.
 *
 * Because of the LIMIT in `bounds`, the database evaluates the expressions in `bounds` only once.
 */
export const selectChanges = `
  select json_build_object(
      'isPrimary', is_primary, 'isOwn', is_own, 'epoch', bounds.epoch,
      'forgottenUpTo', forgotten_up_to::text, 'upTo', up_to::text, 'isHeldBack', is_held_back,
      'latest', latest::text, 'count', count
    )::text, page.*
  from (
    select *, (${isHeldBack} is true) as is_held_back,
      case when $1::xid8 is null or $4::text is not null then ${latest} end as latest
    from (
      select is_primary, is_primary and ${isOwn} as is_own,
        case when is_primary then ${epoch} else '' end as epoch,
        forgotten_up_to, pg_snapshot_xmin(pg_current_snapshot()) as up_to
      from plant_feed, (select not pg_is_in_recovery() as is_primary) as server limit 1
    ) as feed limit 1
  ) as bounds cross join lateral (${pageOf(changesIn('plants', 'plant_deletions', isOfType), isReplacement('plant_deletions'))}
  ) as page`;

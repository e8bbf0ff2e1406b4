import type { PlantChange } from '@plant-store/schemas';
import type { Database } from '../database/database.ts';
import type { CallOptions } from '../database/deadline.ts';
import { deadlineOf } from '../database/deadline.ts';
import { maxPageBytes, reservePage } from '../database/page-memory.ts';
import { isCluster, ownFeed } from '../database/postgres/migration/feed-tables.ts';
import { databaseCode } from '../error-causes.ts';
import { PlantStoreError } from '../plant-store-error.ts';
import { contentBytes, contentBytesSql, storedColumns, toStoredPlant } from '../plants/columns.ts';
import { type Cursor, lastId, type Position } from './cursor.ts';

/** Changes in their order. */
export interface ChangePage {
  readonly changes: readonly PlantChange[];
  /** The position of each change. */
  readonly positions: readonly Position[];
  /** The cursor behind the page. */
  readonly next: Cursor;
  /** Whether the database has further changes now. */
  readonly hasMore: boolean;
  /** Whether a transaction that still runs hides further changes. */
  readonly isHeldBack: boolean;
}

export type ReadChanges = (
  after: Cursor | undefined,
  limit: number,
  options?: CallOptions,
) => Promise<ChangePage>;

/**
 * Makes a function that reads the changes after a cursor. Without a cursor, it returns the present end.
 *
 * A page has the changes of the transactions that have ended and before which every transaction has ended,
 * too. So no change can appear later at a position that was read. The order is that of the transactions'
 * numbers. A create can wait for the delete of its id, and still have the lower number: then the page does
 * not have the delete, which would remove the new plant from a copy.
 *
 * The cursor behind a page has the transaction of a change. After a crash, Postgres can give the number of a
 * transaction without a change to another one.
 *
 * @throws PlantStoreError `cursorExpired`, or `notImplemented` on a database that has no feed; an error of
 *   the connection or the database
 */
export function createChangeReader({ run, copyId = '' }: ChangeSource): ReadChanges {
  return async (after, limit, options) => {
    const position = [after ? String(after.transaction) : null, String(after?.id ?? 0n)];
    const { onTurn, settle } = reservePage(options?.caller, limit);
    const { rows } = await run(selectChanges, [...position, String(limit + 1), copyId], {
      share: 'lists',
      deadline: deadlineOf(options),
      caller: options?.caller,
      onTurn,
      isRepeatable: true,
      rowsAs: 'arrays',
    }).catch(explainCluster);
    const found = rows as Row[]; // The statement selects these columns.
    const [first] = found;
    if (!first) throw new PlantStoreError('notImplemented', switchedOff);
    const [isPrimary, onCluster, epoch, forgotten, limitText, isHeldBack, latest, count] = first;
    if (onCluster) throw noFeedOnCluster();
    if (!isPrimary) throw noFeed('a read replica: use the address of the primary');
    const upTo = BigInt(limitText);
    if (after) checkCursor(after, { epoch, upTo, forgottenUpTo: BigInt(forgotten) });
    const all = found.filter((row) => row[firstColumn] !== null);
    const kept = all.slice(0, limit);
    const positions = kept.map((row) => ({
      transaction: BigInt(String(row[firstColumn - 1])),
      id: BigInt(String(row[firstColumn + 1])),
    }));
    const changes = kept.map(toChange);
    settle(changes.length, contentBytes(changes.map(({ plant }) => plant)));
    const isWhole = kept.length === Number(count ?? 0);
    const last = positions.at(-1) ?? after ?? { transaction: BigInt(latest), id: lastId };
    return {
      changes,
      positions,
      next: { epoch, transaction: last.transaction, id: isWhole ? lastId : last.id },
      hasMore: !isWhole,
      isHeldBack,
    };
  };

  /** Citus does not accept the statement once the plants are distributed, and a worker lacks its tables. */
  async function explainCluster(error: unknown): Promise<never> {
    if (['XX000', '0A000', '42P01'].includes(databaseCode(error) ?? '')) {
      const options = { share: 'lists', deadline: deadlineOf(), isRepeatable: true } as const;
      const { rows } = await run(`select ${isCluster}`, [], options);
      const [[onCluster]] = rows as [[boolean]]; // The statement returns one value.
      if (onCluster) throw noFeedOnCluster();
    }
    throw error;
  }
}

type ChangeSource = Pick<Database, 'run' | 'copyId'>;

type Row = [
  isPrimary: boolean,
  onCluster: boolean,
  epoch: string,
  forgottenUpTo: string,
  upTo: string,
  isHeldBack: boolean,
  latest: string,
  count: string | null,
  transaction: unknown,
  type: PlantChange['type'] | null,
  ...plant: unknown[],
];

/** The index of the type in a row. The columns of the plant follow. */
const firstColumn = 9;

function toChange(row: Row): PlantChange {
  const type = row[firstColumn] as PlantChange['type']; // The row has a change.
  return { type, plant: toStoredPlant(row.slice(firstColumn + 1)) };
}

const switchedOff =
  'the feed of changes is switched off: the operator switches it on with `plant-store feed on`';

/** The error for a cluster, where each node has an order of its own. */
export function noFeedOnCluster(): PlantStoreError {
  return noFeed('a Citus cluster');
}

function noFeed(where: string): PlantStoreError {
  return new PlantStoreError('notImplemented', `there is no feed of changes on ${where}`);
}

/** @throws PlantStoreError `cursorExpired` */
function checkCursor(
  { epoch, transaction, id }: Cursor,
  feed: { epoch: string; upTo: bigint; forgottenUpTo: bigint },
): void {
  const isForgotten =
    transaction < feed.forgottenUpTo || (transaction === feed.forgottenUpTo && id !== lastId);
  const isOfDatabase = epoch === feed.epoch && transaction < feed.upTo;
  if (isOfDatabase && !isForgotten) return;
  const why = isOfDatabase ? 'the cursor is too old' : 'the database was replaced';
  throw new PlantStoreError('cursorExpired', `${why}: list the plants again`);
}

/**
 * The identity of a database and its history. It changes when somebody restores a backup, promotes a
 * standby, or rewrites one of the tables: then a transaction with a number that a client has read can have
 * other changes.
 */
const epoch = `
  left(md5(concat_ws(' ', epoch, (select system_identifier from pg_control_system()),
    left(pg_walfile_name(pg_current_wal_insert_lsn()), 8),
    (select oid from pg_database where datname = current_database()),
    pg_relation_filenode('plants'), pg_relation_filenode('plant_deletions'), $4::text)), 16)`;

const changesOf = (type: PlantChange['type'], table: string, condition = 'true') => `
  (select '${type}' as type, ${storedColumns}, changed_in from ${table}
    where changed_in >= $1::xid8 and (changed_in, id) > ($1::xid8, $2::bigint) and changed_in < up_to
      and ${condition}
    order by changed_in, id limit $3::int)`;

/**
 * Whether no plant with the id, stored or deleted later, was created by a lower number. Such a plant was
 * created after the delete.
 */
const isNotReplaced = `coalesce(changed_in <=
    (select changed_in from plants where plants.id = plant_deletions.id), true)
  and not exists (
    select from plant_deletions as later where later.id = plant_deletions.id
      and later.changed_in > plant_deletions.changed_in
      and later.created_in < plant_deletions.changed_in)`;

/** The greatest number of a transaction with changes, for a cursor of the present end. */
const latest = `(select changed_in from (
    ${['plants', 'plant_deletions']
      .map(
        (table) =>
          `(select changed_in from ${table} where changed_in < up_to order by changed_in desc limit 1)`,
      )
      .join(' union all ')}
    union all select forgotten_up_to
  ) as latest order by changed_in desc limit 1)`;

// With `exists` in place of the LIMIT, the planner would read the whole table while it knows few changes.
const isHeldBack = ['plants', 'plant_deletions']
  .map(
    (table) => `(select true from ${table} where changed_in >= up_to
    order by changed_in, id limit 1)`,
  )
  .join(' is true or ');

/**
 * The window functions read only the rows within the limit. The LIMIT of `bounds` keeps the planner from
 * evaluating its expressions again for each change.
 */
const selectChanges = `
  select is_primary, is_cluster, bounds.epoch, forgotten_up_to::text, up_to::text,
    is_held_back, latest::text, count, changed_in::text, type, ${storedColumns}
  from (
    select *, (${isHeldBack} is true) as is_held_back,
      case when $1::xid8 is null then ${latest} end as latest
    from (
      select not pg_is_in_recovery() as is_primary,
        ${isCluster} as is_cluster,
        case when pg_is_in_recovery() then '' else ${epoch} end as epoch,
        forgotten_up_to, pg_snapshot_xmin(pg_current_snapshot()) as up_to
      from ${ownFeed} limit 1
    ) as feed limit 1
  ) as bounds left join lateral (
    select *, count(*) over () as count,
      sum(least(${contentBytesSql}, ${maxPageBytes})) over (
        order by changed_in, id rows unbounded preceding) as bytes,
      row_number() over (order by changed_in, id) as place
    from (${changesOf('created', 'plants')} union all
      ${changesOf('deleted', 'plant_deletions', isNotReplaced)}
      order by changed_in, id limit $3::int) as limited
  ) as change on bytes <= ${maxPageBytes} or place = 1
  order by change.changed_in, change.id`;

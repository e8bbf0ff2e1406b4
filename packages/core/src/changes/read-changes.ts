import type { Database } from '../database/database.ts';
import type { CallOptions } from '../database/deadline.ts';
import { restoredFeedCode } from '../database/explain-database-error.ts';
import { databaseCode } from '../error-causes.ts';
import { PlantStoreError } from '../plant-store-error.ts';
import { reservePage } from '../plants/page-memory.ts';
import { isCluster } from '../tables/tables.ts';
import { type Cursor, type CursorPart, lastId, type Position } from './cursor.ts';
import { selectChanges } from './select-changes.ts';

/** Changes in their order. */
export interface ChangePage {
  /** The cursor before the first change. */
  readonly after: Cursor;
  /** The JSON of each change. */
  readonly changes: readonly string[];
  /** The position of each change. */
  readonly positions: readonly Position[];
  /** The cursor after the last change of the page. */
  readonly next: Cursor;
  /** Whether the database already has further changes. */
  readonly hasMore: boolean;
  /** The oldest running transaction, if this transaction hides later changes. */
  readonly heldBackBy: bigint | undefined;
}

export interface ReadOptions extends CallOptions {
  /** Whether the page may lack the changes of a log that cannot be read now. The cursor stays before them. */
  readonly mayLackLogs?: boolean;
}

export type ReadChanges = (
  after: Cursor | undefined,
  limit: number,
  options?: ReadOptions,
) => Promise<ChangePage>;

/**
 * Makes a function that reads the changes after a cursor. Without a cursor, the function returns the end of
 * the feed.
 *
 * The changes are ordered by transaction number. A page contains only the changes of transactions that began
 * before the oldest running transaction. So no later change can have a position before the cursor.
 *
 * A create may wait for a delete that frees its id, even when the create has the lower transaction number.
 * The page then omits the delete, because clients would remove the new plant from their copies.
 *
 * A cursor always names a transaction with a change, whose commit is on the disk: see `thisTransaction`.
 * After a crash, Postgres may give the number of a transaction without changes to another transaction.
 *
 * @param readOverNodes reads the changes when the plants are distributed over several nodes
 * @throws PlantStoreError `cursorExpired`; `notImplemented` on a database that has no feed; the errors of
 *   `read`
 */
export function createChangeReader(
  { read, copyId = '', renewFeed }: Pick<Database, 'read' | 'copyId' | 'renewFeed'>,
  readOverNodes: ReadChanges = async () => {
    throw noFeedOnCluster();
  },
): ReadChanges {
  let isRenewing = false;
  let isOverNodes = false;
  return async (...query) => {
    const page = isOverNodes ? undefined : await readChanges(...query);
    isOverNodes = !page;
    return page ?? readOverNodes(...query);
  };

  /** Returns undefined when the plants are distributed over several nodes. */
  async function readChanges(
    after: Cursor | undefined,
    limit: number,
    options?: CallOptions,
  ): Promise<ChangePage | undefined> {
    const [part] = after ?? [];
    const position = [part ? String(part.transaction) : null, String(part?.id ?? 0n)];
    const values = [...position, String(limit + 1), copyId];
    const { onTurn, settle } = reservePage(options?.caller, limit);
    const result = await read(selectChanges, values, {
      ...options,
      share: 'lists',
      rowsAs: 'arrays',
      onTurn,
    }).catch(undefinedOnCluster);
    if (!result) return undefined;
    const found = result.rows as Row[]; // The statement selects these columns.
    const [[json] = []] = found;
    if (!json) throw new PlantStoreError('notImplemented', switchedOff);
    const feed: FeedNow = JSON.parse(json);
    if (feed.isCluster) return undefined;
    if (!feed.isPrimary) throw noFeed('a read replica: use the address of the primary');
    if (!feed.isOwn) {
      void renew();
      throw restored();
    }
    if (after) checkCursor(after, 1, part, feed);
    const kept = feed.count > 0 ? found.slice(0, limit) : [];
    const changes = kept.map(([, , , change]) => change);
    settle(changes.reduce((sum, change) => sum + Buffer.byteLength(change), 0));
    const positions = kept.map(([, transaction, id]) => ({
      transaction: BigInt(transaction),
      id: BigInt(id),
    }));
    const isWhole = kept.length === feed.count;
    const last = positions.at(-1) ?? part ?? { transaction: BigInt(feed.latest), id: lastId };
    const id = isWhole ? lastId : last.id;
    const next = [{ epoch: feed.epoch, transaction: last.transaction, id }];
    return {
      after: after ?? next,
      changes,
      positions,
      next,
      hasMore: !isWhole,
      heldBackBy: feed.isHeldBack ? BigInt(feed.upTo) : undefined,
    };
  }

  /** Draws a new epoch. Requests do not wait for the new epoch, because this function may build an index. */
  async function renew(): Promise<void> {
    if (isRenewing) return;
    isRenewing = true;
    await renewFeed?.().catch(() => {}); // The next read renews the feed if this attempt fails.
    isRenewing = false;
  }

  /** Citus rejects the statement when the plants are distributed. A worker lacks the tables of the feed. */
  async function undefinedOnCluster(error: unknown): Promise<undefined> {
    if (['XX000', '0A000', '42P01'].includes(databaseCode(error) ?? '')) {
      const { rows } = await read(`select ${isCluster}`, [], { share: 'lists' });
      const [[onCluster]] = rows as [[boolean]]; // The statement returns one value.
      if (onCluster) return undefined;
    }
    throw error;
  }
}

/** The state of the feed, as JSON from the database. Transaction numbers are strings. */
interface FeedNow {
  isPrimary: boolean;
  isCluster: boolean;
  /** Whether the epoch belongs to this server and its timeline. */
  isOwn: boolean;
  epoch: string;
  forgottenUpTo: string;
  upTo: string;
  isHeldBack: boolean;
  latest: string;
  /** The number of changes within the limits of the statement. */
  count: number;
}

/** The first row contains the state of the feed. When there are no changes, its other columns are null. */
type Row = [feed: string | null, transaction: string, id: string, change: string];

const switchedOff =
  'the feed of changes is switched off: the operator switches it on with `plant-store feed on`';

/** The error after a restore or a promotion, before an instance has drawn a new epoch. */
function restored(): PlantStoreError {
  const message =
    'somebody has restored or promoted the database, and its feed begins anew: try again';
  const cause = Object.assign(new Error('the feed belongs to another database'), {
    code: restoredFeedCode,
  });
  return new PlantStoreError('databaseUnavailable', message, { cause });
}

/** The error for a cluster whose nodes lack the functions of the feed. */
export function noFeedOnCluster(): PlantStoreError {
  const message =
    'this Citus cluster has no feed of changes: run plant-store distribute on the coordinator, and pass ' +
    '`cluster: citus` with the URL';
  return new PlantStoreError('notImplemented', message);
}

function noFeed(where: string): PlantStoreError {
  return new PlantStoreError('notImplemented', `there is no feed of changes on ${where}`);
}

/**
 * Checks the part of a cursor for one log. `logs` is the number of logs.
 *
 * @throws PlantStoreError `cursorExpired`
 */
export function checkCursor(
  cursor: Cursor,
  logs: number,
  part: CursorPart | undefined,
  log: Pick<FeedNow, 'epoch' | 'upTo' | 'forgottenUpTo'>,
): void {
  const isOfDatabase =
    cursor.length === logs && part?.epoch === log.epoch && part.transaction < BigInt(log.upTo);
  const forgottenUpTo = BigInt(log.forgottenUpTo);
  const isForgotten =
    isOfDatabase &&
    (part.transaction < forgottenUpTo ||
      (part.transaction === forgottenUpTo && part.id !== lastId));
  if (isOfDatabase && !isForgotten) return;
  const why = isOfDatabase ? 'the cursor is too old' : 'the database was replaced';
  const advice = 'empty your copy, and list the plants again';
  throw new PlantStoreError('cursorExpired', `${why}: ${advice}`);
}

import type { PlantChange } from '@plant-store/schemas';
import type { Database } from '../database/database.ts';
import type { CallOptions } from '../database/deadline.ts';
import { diagnostics } from '../database/diagnostics.ts';
import { reservePage } from '../plants/page-memory.ts';
import { idTexts, plantTexts } from '../plants/plant-json.ts';
import { type Cursor, lastId, laterOf, type Position } from './cursor.ts';
import { cursorExpired, noFeed, restored, switchedOff } from './feed-errors.ts';
import { selectChanges } from './select-changes.ts';

export interface ChangePage {
  /** The JSON of each change. */
  readonly changes: readonly string[];
  readonly positions: readonly Position[];
  /** The cursor after the last change of the page. */
  readonly next: Cursor;
  /** Whether the database already has further changes. */
  readonly hasMore: boolean;
  /** The oldest transaction that runs, if it hides changes. */
  readonly heldBackBy: bigint | undefined;
}

export interface Wanted {
  /** The reader wants only changes of this type, so a page may omit changes of the other type. */
  readonly only?: PlantChange['type'] | undefined;
}

export type ReadChanges = (
  after: Cursor | undefined,
  limit: number,
  options?: CallOptions & Wanted,
) => Promise<ChangePage>;

/**
 * Makes a function that reads the changes after a cursor. Without a cursor, the function returns the end of
 * the feed.
 *
 * The changes are ordered by transaction number. A page contains only the changes of transactions that began
 * before the oldest running transaction. Therefore no change can later appear before a cursor that a client
 * already has.
 *
 * A create may wait until another transaction has deleted the plant with the same id. The create can then
 * have the lower transaction number. A page omits this delete, because clients would remove the new plant.
 *
 * A cursor always contains the number of a transaction that has changes and is on the disk: see
 * `thisTransaction`. After a crash, Postgres may give the number of a transaction without changes to another
 * transaction.
 *
 * @throws PlantStoreError `cursorExpired`, the errors of `read`, and `notImplemented` on a database that has
 *   no feed
 */
export function createChangeReader({ read }: Pick<Database, 'read'>): ReadChanges {
  return (...page) =>
    diagnostics.page.start.hasSubscribers
      ? diagnostics.page.tracePromise(readChanges, {}, undefined, ...page)
      : readChanges(...page);

  async function readChanges(
    after: Cursor | undefined,
    limit: number,
    { only, ...options }: CallOptions & Wanted = {},
  ): Promise<ChangePage> {
    const position = [after ? String(after.transaction) : null, String(after?.id ?? 0n)];
    const values = [...position, String(limit + 1), only ?? null];
    const { onTurn, settle } = reservePage(options.caller, limit);
    const { rows } = await read<Row>(selectChanges, values, {
      ...options,
      kind: 'reads',
      onTurn,
    });
    // The statement returns no row when the feed is off.
    const [[json, ...arrays] = []] = rows;
    if (!json) throw switchedOff();
    const feed: FeedNow = JSON.parse(json);
    if (!feed.isPrimary) throw noFeed('a read replica: use the address of the primary');
    if (!feed.isOwn) throw restored();
    if (after) checkCursor(after, feed);
    const { changes, positions } = parseChanges(arrays, limit);
    settle(changes.reduce((sum, change) => sum + Buffer.byteLength(change), 0));
    const isWhole = changes.length === feed.count;
    const { transaction, id } = positions.at(-1) ?? after ?? { transaction: 0n, id: lastId };
    const next = { epoch: feed.epoch, transaction, id: isWhole ? lastId : id };
    const latest = { ...next, transaction: BigInt(feed.latest ?? 0) };
    return {
      changes,
      positions,
      next: isWhole ? laterOf(next, latest) : next,
      hasMore: !isWhole,
      heldBackBy: feed.isHeldBack ? BigInt(feed.upTo) : undefined,
    };
  }
}

/** The state of the feed, as JSON from the database. Transaction numbers are strings. */
interface FeedNow {
  isPrimary: boolean;
  /** Whether the epoch belongs to this server and its timeline. */
  isOwn: boolean;
  epoch: string;
  forgottenUpTo: string;
  upTo: string;
  isHeldBack: boolean;
  /** Null when the reader passes a cursor and wants changes of all types. */
  latest: string | null;
  /** The number of changes that the statement has found. The page may contain fewer changes. */
  count: number;
}

/** The state of the feed, and the columns of the changes as arrays in JSON. */
type Row = [feed: string, ...arrays: (string | null)[]];

/** Reads the first changes from the arrays that `selectChanges` selects. */
function parseChanges(
  [transactions, types, replacements, ...columns]: readonly (string | null)[],
  limit: number,
): Pick<ChangePage, 'changes' | 'positions'> {
  const parse = (array: string | null | undefined) => JSON.parse(array ?? '[]').slice(0, limit);
  const [type, isReplacement]: [string[], boolean[]] = [parse(types), parse(replacements)];
  const transaction: string[] = parse(transactions);
  const plants = plantTexts(columns);
  const ids = idTexts(columns);
  return {
    changes: type.map((each, i) => `{"type":"${each}","plant":${plants[i]}}`),
    positions: transaction.map((each, i) => ({
      transaction: BigInt(each),
      id: BigInt(ids[i] ?? 0),
      isReplacement: isReplacement[i] === true,
    })),
  };
}

/** @throws PlantStoreError `cursorExpired` */
function checkCursor({ epoch, transaction, id }: Cursor, feed: FeedNow): void {
  const forgottenUpTo = BigInt(feed.forgottenUpTo);
  const isForgotten =
    transaction < forgottenUpTo || (transaction === forgottenUpTo && id !== lastId);
  const isOfDatabase = epoch === feed.epoch && transaction < BigInt(feed.upTo);
  if (isOfDatabase && !isForgotten) return;
  throw cursorExpired(isOfDatabase ? 'the cursor is too old' : 'the database was replaced');
}

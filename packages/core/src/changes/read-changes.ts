import type { PlantChange } from '@plant-store/schemas';
import type { Database } from '../database/database.ts';
import type { CallOptions } from '../database/deadline.ts';
import { PlantStoreError } from '../plant-store-error.ts';
import { ChangesText, type ChangeText } from '../plants/output-text.ts';
import { plantTexts, valuesOf } from '../plants/plant-json.ts';
import { type Cursor, formatCursor, isBehind, lastId, type Position } from './cursor.ts';
import { isReadReplica, selectChanges } from './statements.ts';

/** A page of the feed. */
export interface ChangePage {
  readonly text: ChangesText;
  readonly positions: readonly Position[];
  /** The cursor after the last change of the page. */
  readonly next: Cursor;
  /** Whether the database already has further changes. */
  readonly hasMore: boolean;
  /** The oldest running transaction, if it hides changes. */
  readonly heldBackBy: string | undefined;
}

export type ReadChanges = (
  after: Cursor | undefined,
  limit: number,
  options: CallOptions & { readonly kind: 'reads' | 'changes' },
) => Promise<ChangePage>;

/**
 * Makes a function that reads the changes after a cursor. Without a cursor, it returns the end of the feed.
 *
 * A cursor always has the number of a transaction with changes: after a crash, Postgres may give the number of
 * a transaction without changes to another transaction.
 *
 * @throws PlantStoreError `cursorExpired`, `notImplemented` on a read replica, and the errors of `read`
 */
export function createChangeReader({ read }: Pick<Database, 'read'>): ReadChanges {
  return async (after, limit, options) => {
    const values = [
      after ? String(after.transaction) : null,
      String(after?.id ?? 0n),
      String(limit),
    ];
    const { rows } = await read<Row>(selectChanges, values, options).catch(async (error) => {
      // A read replica cannot tell its place in the log.
      const replica = await read(isReadReplica, [], options).catch(() => undefined);
      throw replica?.rows[0]?.[0] === 'true' ? noFeed() : error;
    });
    const [[json, transactions, types, ...columns] = []] = rows;
    if (!json) throw new Error('the table plant_feed is empty');
    const feed: FeedNow = JSON.parse(json);
    if (after) checkCursor(after, feed);
    const { epoch } = feed;
    const plants = plantTexts(columns);
    const ids = valuesOf(columns[0]);
    const type: PlantChange['type'][] = JSON.parse(types ?? '[]');
    const numbers: string[] = JSON.parse(transactions ?? '[]');
    const positions = numbers.map((transaction, i) => ({
      transaction: BigInt(transaction),
      id: BigInt(ids[i] ?? 0),
    }));
    const hasMore = positions.length < feed.count;
    const last = positions.at(-1) ?? after ?? { transaction: BigInt(feed.latest ?? 0), id: lastId };
    const next = { epoch, transaction: last.transaction, id: hasMore ? last.id : lastId };
    const changes = plants.map((plant, i) => ({ type: type[i] ?? 'created', plant }));
    return {
      ...pageOf(changes, positions, next),
      hasMore,
      heldBackBy: feed.isHeldBack ? feed.upTo : undefined,
    };
  };
}

/** Makes the text of a page, with the cursor after each change. */
export function pageOf(
  changes: readonly Omit<ChangeText, 'cursor'>[],
  positions: readonly Position[],
  next: Cursor,
): Pick<ChangePage, 'text' | 'positions' | 'next'> {
  const texts = changes.map((change, i) => {
    const position = positions[i + 1] && positions[i];
    return { ...change, cursor: formatCursor(position ? { ...next, ...position } : next) };
  });
  return { text: new ChangesText(texts, formatCursor(next)), positions, next };
}

/** The state of the feed, and the columns of the changes as arrays in JSON. */
type Row = (string | null)[];

/** The state of the feed, as JSON from the database. Transaction numbers are strings. */
interface FeedNow {
  epoch: string;
  forgottenUpTo: string;
  upTo: string;
  isHeldBack: boolean;
  /** Null when the reader passes a cursor. */
  latest: string | null;
  /** The number of changes that the statement has found. The page may have fewer changes. */
  count: number;
}

/** @throws PlantStoreError `cursorExpired` */
function checkCursor(cursor: Cursor, feed: FeedNow): void {
  const isOfDatabase = cursor.epoch === feed.epoch && cursor.transaction < BigInt(feed.upTo);
  const forgotten = { transaction: BigInt(feed.forgottenUpTo), id: lastId };
  if (isOfDatabase && !isBehind(forgotten, cursor)) return;
  const why = isOfDatabase ? 'the cursor is too old' : 'the database was replaced';
  throw new PlantStoreError('cursorExpired', `${why}: empty your copy, and list the plants again`);
}

function noFeed(): PlantStoreError {
  const message = 'a read replica has no feed of changes: use the address of the primary';
  return new PlantStoreError('notImplemented', message);
}

import type { PlantChange, PlantChanges } from '@plant-store/schemas';
import type { Database } from '../database/database.ts';
import type { CallOptions } from '../database/deadline.ts';
import { outcomeOf } from '../database/errors.ts';
import { databaseCode, PlantStoreError } from '../plant-store-error.ts';
import { OutputText } from '../plants/output-text.ts';
import { plantTexts, valuesOf } from '../plants/plant-json.ts';
import { type Cursor, formatCursor, isAfter, lastId, type Position } from './cursor.ts';
import { selectChanges } from './statements.ts';

/** A change, with the plant as JSON. */
export interface ChangeText {
  readonly type: PlantChange['type'];
  readonly plant: string;
  readonly position: Position;
}

/** A page of changes. */
export class ChangesText extends OutputText<PlantChanges> {
  readonly changes: readonly ChangeText[];
  /** The cursor after which the next page begins. */
  readonly end: Cursor;
  /** `end` as text. */
  readonly next: string;

  constructor(changes: readonly ChangeText[], end: Cursor) {
    const next = formatCursor(end);
    const json = `{"changes":[${changes.map(changeJson)}],"next":"${next}"}`;
    super(json, (place) => `changes.${place}.plant.`);
    this.changes = changes;
    this.end = end;
    this.next = next;
  }

  /** Returns the cursor after the change with this index, as text. */
  cursorAfter(place: number): string {
    const position = this.changes[place + 1] && this.changes[place]?.position;
    return formatCursor({ ...this.end, ...position });
  }
}

/** Writes a change as JSON. */
export function changeJson({ type, plant }: ChangeText): string {
  return `{"type":"${type}","plant":${plant}}`;
}

/**
 * Reads the changes after a cursor. Without a cursor, returns the end of the feed. `heldBackBy` is the number
 * of the oldest running transaction, if this transaction hides changes.
 *
 * A new cursor has the number of a transaction with changes, or 0. After a crash, Postgres may reuse the number
 * of a transaction without changes.
 *
 * @throws PlantStoreError `cursorExpired`, `notImplemented` on a read replica, and the errors of `read`
 */
export async function readChanges(
  { read }: Pick<Database, 'read'>,
  after: Cursor | undefined,
  limit: number,
  options: CallOptions & { readonly kind: 'reads' | 'changes' },
) {
  const transaction = after ? String(after.transaction) : null;
  const values = [transaction, String(after?.id ?? 0n), String(limit)];
  const { rows } = await read<(string | null)[]>(selectChanges, values, options).catch((error) => {
    // A read replica rejects the WAL functions of `selectChanges` (object_not_in_prerequisite_state).
    const isReplica = outcomeOf(error) === 'rolledBack' && databaseCode(error) === '55000';
    throw isReplica ? noFeed() : error;
  });
  const [[json, transactions, types, ...columns] = []] = rows;
  if (!json) throw new Error('the table plant_feed is empty');
  const feed: FeedNow = JSON.parse(json);
  if (after) checkCursor(after, feed);
  const ids = valuesOf(columns[0]);
  const typeOf: PlantChange['type'][] = JSON.parse(types ?? '[]');
  const numbers: string[] = JSON.parse(transactions ?? '[]');
  const changes = plantTexts(columns).map((plant, i) => ({
    type: typeOf[i] ?? 'created',
    plant,
    position: { transaction: BigInt(numbers[i] ?? 0), id: BigInt(ids[i] ?? 0) },
  }));
  const start = after ?? { transaction: BigInt(feed.latest ?? 0), id: lastId };
  const last = changes.at(-1)?.position ?? start;
  const hasMore = changes.length < feed.candidates;
  const end = { ...last, epoch: feed.epoch, id: hasMore ? last.id : lastId };
  const heldBackBy = feed.isHeldBack ? feed.upTo : undefined;
  return { page: new ChangesText(changes, end), heldBackBy };
}

/** The state of the feed, as JSON from the database. Transaction numbers are strings. */
interface FeedNow {
  epoch: string;
  forgottenUpTo: string;
  upTo: string;
  isHeldBack: boolean;
  /** Null when the reader passes a cursor. */
  latest: string | null;
  /** The number of changes after the cursor, at most `limit` + 1. A page may have fewer changes. */
  candidates: number;
}

/** @throws PlantStoreError `cursorExpired` */
function checkCursor(cursor: Cursor, feed: FeedNow): void {
  const isOfDatabase = cursor.epoch === feed.epoch && cursor.transaction < BigInt(feed.upTo);
  const forgotten = { transaction: BigInt(feed.forgottenUpTo), id: lastId };
  if (isOfDatabase && !isAfter(forgotten, cursor)) return;
  const why = isOfDatabase ? 'the cursor is too old' : 'the database was replaced';
  throw new PlantStoreError('cursorExpired', `${why}: empty your copy, and list the plants again`);
}

function noFeed(): PlantStoreError {
  const message = 'a read replica has no feed of changes: use the address of the primary';
  return new PlantStoreError('notImplemented', message);
}

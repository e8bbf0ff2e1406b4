import { invalidInput } from '../plant-store-error.ts';

/** A position in the feed: the transaction of a change, and the id of the changed plant. */
export interface Position {
  readonly transaction: bigint;
  readonly id: bigint;
}

/** A position that is valid only in one database. */
export interface Cursor extends Position {
  /** Identifies the database and its history: see `selectChanges`. */
  readonly epoch: string;
}

/** The greatest id. After a position with this id, there are no changes of the same transaction. */
export const lastId = 2n ** 63n - 1n;

export function isAfter(one: Position, other: Position): boolean {
  if (one.transaction !== other.transaction) return one.transaction > other.transaction;
  return one.id > other.id;
}

/** Formats a cursor as an opaque text for clients. */
export function formatCursor({ epoch, transaction, id }: Cursor): string {
  const parts = id === lastId ? [epoch, transaction] : [epoch, transaction, id];
  return Buffer.from(parts.join(' ')).toString('base64url');
}

/** @throws PlantStoreError `invalidInput` with `name` in the message */
export function parseCursor(text: string, name = 'after'): Cursor {
  const decoded = Buffer.from(text, 'base64url').toString();
  const match = /^([0-9a-f]{16}) (\d{1,20})(?: (-?\d{1,19}))?$/.exec(decoded);
  const [, epoch, transaction, id = lastId] = match ?? [];
  if (epoch && transaction) {
    const cursor = {
      epoch,
      transaction: BigInt.asUintN(64, BigInt(transaction)),
      id: BigInt.asIntN(64, BigInt(id)),
    };
    if (formatCursor(cursor) === text) return cursor;
  }
  throw invalidInput(`${name} must be the \`next\` of a response`);
}

import { PlantStoreError } from '../plant-store-error.ts';

/**
 * A position in one log of changes. The position is directly after the change of this id in this transaction.
 */
export interface Position {
  /** The number of the transaction. The bits above the lower 48 bits name the log. */
  readonly transaction: bigint;
  readonly id: bigint;
}

/** The position in one log that a cursor contains. */
export interface CursorPart extends Position {
  /** An identifier of the log and its history; see `select-changes.ts`. */
  readonly epoch: string;
}

/** A position in the feed: one part for each log. A single database has one log, with the name 0. */
export type Cursor = readonly CursorPart[];

/** The number of bits for a transaction. */
export const transactionBits = 48n;

/** The greatest id. A position with this id is after all changes of its transaction. */
export const lastId = 2n ** 63n - 1n;

const isInSameLog = (one: Position, other: Position) =>
  one.transaction >> transactionBits === other.transaction >> transactionBits;

function isLater(one: Position, other: Position): boolean {
  if (one.transaction !== other.transaction) return one.transaction > other.transaction;
  return one.id > other.id;
}

/** Whether a change at this position comes after the cursor. */
export function isBehind(position: Position, cursor: Cursor): boolean {
  const part = cursor.find((each) => isInSameLog(each, position));
  return part === undefined || isLater(position, part);
}

/** Whether both cursors belong to the same logs, and no change after `later` comes before `cursor`. */
export function isUpTo(cursor: Cursor, later: Cursor): boolean {
  return hasSameLogs(cursor, later) && !cursor.some((part) => isBehind(part, later));
}

export function hasSameLogs(one: Cursor, other: Cursor): boolean {
  const isIn = ({ epoch }: CursorPart) => other.some((part) => part.epoch === epoch);
  return one.length === other.length && one.every(isIn);
}

/** Moves a cursor of the same logs forward, so that the cursor is after all these positions. */
export function advance(cursor: Cursor, positions: readonly Position[]): Cursor {
  return cursor.map((part) => {
    const others = positions.filter((other) => isInSameLog(other, part));
    const { transaction, id } = others.reduce((a, b) => (isLater(b, a) ? b : a), part);
    return { epoch: part.epoch, transaction, id };
  });
}

/** The first byte of a cursor with several parts. */
const severalParts = 1;
const partBytes = 24;

/** Formats a cursor as an opaque text for clients. */
export function formatCursor(cursor: Cursor): string {
  const [only] = cursor;
  if (only && cursor.length === 1) {
    const { epoch, transaction, id } = only;
    const parts = id === lastId ? [epoch, transaction] : [epoch, transaction, id];
    return Buffer.from(parts.join(' ')).toString('base64url');
  }
  const bytes = Buffer.alloc(1 + cursor.length * partBytes, severalParts);
  for (const [i, { epoch, transaction, id }] of cursor.entries()) {
    const start = 1 + i * partBytes;
    bytes.write(epoch, start, 'hex');
    bytes.writeBigUInt64BE(transaction, start + 8);
    bytes.writeBigInt64BE(id, start + 16);
  }
  return bytes.toString('base64url');
}

/** @throws PlantStoreError `invalidInput` */
export function parseCursor(text: string): Cursor {
  const bytes = Buffer.from(text, 'base64url');
  const cursor = bytes[0] === severalParts ? severalOf(bytes) : singleOf(bytes);
  if (!cursor || formatCursor(cursor) !== text) {
    throw new PlantStoreError(
      'invalidInput',
      'invalid input: after must be the `next` of a response',
    );
  }
  return cursor;
}

function singleOf(bytes: Buffer): Cursor | undefined {
  const match = /^([0-9a-f]{16}) (\d{1,20})(?: (-?\d{1,19}))?$/.exec(bytes.toString());
  const [, epoch, transaction, id = lastId] = match ?? [];
  if (!epoch || !transaction) return undefined;
  const position = {
    transaction: BigInt.asUintN(64, BigInt(transaction)),
    id: BigInt.asIntN(64, BigInt(id)),
  };
  return [{ epoch, ...position }];
}

function severalOf(bytes: Buffer): Cursor {
  const count = Math.floor((bytes.length - 1) / partBytes);
  return Array.from({ length: count }, (_, i) => {
    const start = 1 + i * partBytes;
    return {
      epoch: bytes.toString('hex', start, start + 8),
      transaction: bytes.readBigUInt64BE(start + 8),
      id: bytes.readBigInt64BE(start + 16),
    };
  });
}

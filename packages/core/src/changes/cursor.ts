import { PlantStoreError } from '../plant-store-error.ts';

export interface Position {
  readonly transaction: bigint;
  readonly id: bigint;
  /** Whether the plant replaced an older plant, and the feed omits the deletion of the older plant. */
  readonly isReplacement?: boolean;
  /** See `Cursor`. */
  readonly parts?: readonly Cursor[] | undefined;
}

/** A position in the feed of one database. */
export interface Cursor extends Position {
  /** An identifier of the database and its history; see `select-changes.ts`. */
  readonly epoch: string;
  /** The cursor of each log. The feed of a cluster consists of several logs. */
  readonly parts?: readonly Cursor[] | undefined;
}

/**
 * The number of low bits in `transaction` that contain the transaction number. If a feed has several logs,
 * the higher bits name the log.
 */
export const transactionBits = 48n;

export const logOf = ({ transaction }: Position) => transaction >> transactionBits;

const partsOf = (cursor: Cursor): readonly Cursor[] => cursor.parts ?? [cursor];

const partFor = (position: Position, cursor: Cursor) =>
  cursor.parts?.find((part) => logOf(part) === logOf(position)) ?? cursor;

/** The greatest id. A position with this id is the end of a transaction. */
export const lastId = 2n ** 63n - 1n;

/** Whether a position in one log is after a cursor. */
export function isBehind(one: Position, cursor: Cursor): boolean {
  const other = partFor(one, cursor);
  if (one.transaction !== other.transaction) return one.transaction > other.transaction;
  return one.id > other.id;
}

export function hasSameLogs(one: Cursor, other: Cursor): boolean {
  const isIn = (part: Cursor) => partFor(part, other).epoch === part.epoch;
  return partsOf(one).length === partsOf(other).length && partsOf(one).every(isIn);
}

/** Whether two cursors have the same logs, and `cursor` is before or at `other` in each log. */
export function isUpTo(cursor: Cursor, other: Cursor): boolean {
  return hasSameLogs(cursor, other) && !partsOf(cursor).some((part) => isBehind(part, other));
}

/** Moves a cursor forward to a position in one log. */
const advance = (cursor: Cursor, position: Position) =>
  isBehind(position, cursor) ? moveTo(cursor, position) : cursor;

/** Moves a cursor back to a position in one log. */
export const retreat = (cursor: Cursor, position: Position) =>
  isBehind(position, cursor) ? cursor : moveTo(cursor, position);

function moveTo(cursor: Cursor, position: Position): Cursor {
  const { transaction, id } = position;
  const part = partFor(position, cursor);
  const moved = { epoch: part.epoch, transaction, id };
  if (!cursor.parts) return moved;
  return { ...cursor, parts: cursor.parts.map((each) => (each === part ? moved : each)) };
}

/** Returns a cursor that has, for each log, the later position of two cursors. */
export const advanceTo = (cursor: Cursor, other: Cursor) => partsOf(other).reduce(advance, cursor);

/** Adds `parts` to each position after a cursor. `parts` says how far each log is at this position. */
export function withParts(cursor: Cursor, positions: readonly Position[]): readonly Position[] {
  if (!cursor.parts) return positions;
  let last = cursor;
  return positions.map((position) => {
    last = advance(last, position);
    return { ...position, parts: last.parts };
  });
}

/** Formats a cursor as an opaque text for clients. */
export function formatCursor({ epoch, transaction, id, parts: logs }: Cursor): string {
  if (logs) {
    const numbers = logs.flatMap((log) => [BigInt(`0x${log.epoch}`), log.transaction, log.id]);
    return Buffer.from(BigInt64Array.from(numbers).buffer).toString('base64url');
  }
  const parts = id === lastId ? [epoch, transaction] : [epoch, transaction, id];
  return Buffer.from(parts.join(' ')).toString('base64url');
}

/** @throws PlantStoreError `invalidInput`, whose message contains the name of the input */
export function parseCursor(text: string, name = 'after'): Cursor {
  const bytes = Buffer.from(text, 'base64url');
  const match = /^([0-9a-f]{16}) (\d{1,20})(?: (-?\d{1,19}))?$/.exec(bytes.toString());
  const [, epoch, transaction, id = lastId] = match ?? [];
  const cursor =
    epoch && transaction
      ? {
          epoch,
          transaction: BigInt.asUintN(64, BigInt(transaction)),
          id: BigInt.asIntN(64, BigInt(id)),
        }
      : ofSeveralLogs(bytes);
  if (!cursor || formatCursor(cursor) !== text) {
    throw new PlantStoreError(
      'invalidInput',
      `invalid input: ${name} must be the \`next\` of a response`,
    );
  }
  return cursor;
}

/** The number of bytes for the epoch, the transaction and the id of a log. */
const logBytes = 24;

function ofSeveralLogs(bytes: Buffer): Cursor | undefined {
  if (bytes.length === 0 || bytes.length % logBytes !== 0) return undefined;
  const parts = Array.from({ length: bytes.length / logBytes }, (_, i) => ({
    epoch: bytes
      .readBigUInt64LE(i * logBytes)
      .toString(16)
      .padStart(16, '0'),
    transaction: bytes.readBigUInt64LE(i * logBytes + 8),
    id: bytes.readBigInt64LE(i * logBytes + 16),
  }));
  return cursorOf(parts);
}

export const cursorOf = (parts: readonly Cursor[]): Cursor => ({
  epoch: '',
  transaction: 0n,
  id: 0n,
  parts,
});

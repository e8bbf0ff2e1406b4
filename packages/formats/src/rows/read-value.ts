import { type ColumnKind, explainIdText, int64Bounds } from '@plant-store/schemas/plain';

/** Matches an integer of up to 15 digits, which a JavaScript number always holds exactly. */
const short = /^(0|-?[1-9]\d{0,14})$/;
/** The length of 15 digits and a sign. */
const maxShortLength = 16;
const long = /^-?[1-9]\d{15,18}$/;

/**
 * Reads an id in plain decimal. Accepts the same texts as `IdFromText`, but is faster.
 *
 * @returns undefined when the text is not an id
 */
export function parseId(text: string): number | bigint | undefined {
  if (text.length <= maxShortLength && short.test(text)) return Number(text);
  if (!long.test(text)) return undefined;
  const id = BigInt(text);
  return id >= int64Bounds.minimum && id <= int64Bounds.maximum ? id : undefined;
}

/** Matches a number in the notation of JSON. */
const number = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/**
 * Converts a text to a value of the given kind. Does not check texts and times, because the store checks them.
 *
 * @returns undefined when the text is not a value of this kind
 */
export function readValue(kind: ColumnKind, text: string): unknown {
  if (kind === 'int64') return parseId(text);
  if (kind !== 'number') return text;
  return number.test(text) && Number.isFinite(Number(text)) ? Number(text) : undefined;
}

/** Explains why a text is not a value of a kind. */
export function valueError(kind: ColumnKind, text: string): string {
  if (kind !== 'int64') return 'must be a number, such as 12.5';
  const isRounded = /^-?\d[.,]\d{1,20}E\+?\d{1,3}$/i.test(text);
  return `${explainIdText(text)}${isRounded ? rounded : ''}`;
}

const rounded =
  ', but a spreadsheet program has rounded it: format the column as text, and enter the ids again';

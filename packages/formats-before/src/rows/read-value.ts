import { type ColumnKind, explainIdText, readIdText } from '@plant-store/schemas/plain';

/** Matches a number in the notation of JSON. */
const number = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/**
 * Converts a text to a value of the given kind. The store checks texts and times later.
 *
 * @returns undefined when the text is not a value of this kind
 */
export function readValue(kind: ColumnKind, text: string): unknown {
  if (kind === 'int64') return readIdText(text);
  if (kind !== 'number') return text;
  return number.test(text) && Number.isFinite(Number(text)) ? Number(text) : undefined;
}

/** Explains why a text is not a value of the given kind. */
export function valueError(kind: ColumnKind, text: string): string {
  if (kind !== 'int64') return 'must be a number, such as 12.5';
  const isRounded = /^-?\d[.,]\d{1,20}E\+?\d{1,3}$/i.test(text);
  return `${explainIdText(text)}${isRounded ? rounded : ''}`;
}

const rounded =
  ', but a spreadsheet program has rounded it: format the column as text, and enter the ids again';

/** The error of an unreadable file. The message is one line with the reason and the remedy. */
export class FileError extends Error {
  override readonly name = 'FileError';
}

/** Each text says how to read a file of this kind. An error message ends with such a text. */
export interface Advice {
  readonly csv: string;
  readonly ndjson: string;
  readonly delimiter: string;
  /** For a file in Latin-1 or Windows-1252. */
  readonly latin1: string;
  /** For a file in UTF-16 without a byte order mark. */
  readonly utf16: string;
}

/** The default advice, for programmers. */
export const defaultAdvice: Advice = {
  csv: "set the option `format` to 'csv'",
  ndjson: "set the option `format` to 'ndjson'",
  delimiter: 'set the option `delimiter`',
  latin1: "set the option `encoding` to 'latin1'",
  utf16: "set the option `encoding` to 'utf-16le' or 'utf-16be'",
};

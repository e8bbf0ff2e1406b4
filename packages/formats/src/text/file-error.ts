/** The error of an unreadable file. The message is one line with the reason and the remedy. */
export class FileError extends Error {
  override readonly name = 'FileError';
}

/** Advice for error messages about a file. Each text is the end of a sentence. */
export interface Advice {
  /** Says how to read the file as CSV. */
  readonly csv: string;
  /** Says how to read the file as NDJSON. */
  readonly ndjson: string;
  /** Says how to read the file with another delimiter. */
  readonly delimiter: string;
  /** Says how to read a file in Latin-1 or Windows-1252. */
  readonly latin1: string;
  /** Says how to read a file in UTF-16 without a byte order mark. */
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

/** The reason why a file cannot be read at all: one line that also says what to do. */
export class FileError extends Error {
  override readonly name = 'FileError';
}

/** Advice for error messages, when the reader needs to know more about a file. Each text ends a sentence. */
export interface Advice {
  /** How to read the file as CSV. */
  readonly csv: string;
  /** How to read the file as NDJSON. */
  readonly ndjson: string;
  /** How to read the file with another delimiter. */
  readonly delimiter: string;
  /** How to read a file in Latin-1 or Windows-1252. */
  readonly latin1: string;
  /** How to read a file in UTF-16 without a byte order mark. */
  readonly utf16: string;
}

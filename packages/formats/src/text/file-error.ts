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

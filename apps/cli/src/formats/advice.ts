import { type Advice, FileError } from '@plant-store/formats';
import { usageError } from '../command-line/errors.ts';

/** The options with which a person can read a file in another way. */
export const advice: Advice = {
  csv: 'add --format csv',
  ndjson: 'add --format ndjson',
  delimiter: 'name the delimiter with --delimiter',
  latin1: 'add --encoding latin1',
  utf16: 'add --encoding utf-16le or utf-16be',
};

/** A file that cannot be read is an invalid argument. Returns any other error as it is. */
export function asCommandError(error: unknown): unknown {
  return error instanceof FileError ? usageError(error.message, { cause: error.cause }) : error;
}

import type { Readable } from 'node:stream';
import { type Advice, FileError } from '@plant-store/formats';
import { decompressors } from '@plant-store/formats/node';
import { errorCatalogue } from '@plant-store/schemas/plain';
import { CommandError } from '../command-line/errors.ts';

/** The advice in errors about files: the option that the user must add to the command. */
const advice: Advice = {
  csv: 'add --format csv',
  ndjson: 'add --format ndjson',
  delimiter: 'name the delimiter with --delimiter',
  latin1: 'add --encoding latin1',
  utf16: 'add --encoding utf-16le or utf-16be',
};

/** The settings with which all commands read files. */
export const fileSettings = {
  decompressors,
  advice,
  warn: (message: string) => void process.stderr.write(`plant-store: ${message}\n`),
};

/** Returns the name of the file, or standard input for `-`. */
export const inputOf = (file: string): string | Readable => (file === '-' ? process.stdin : file);

/** Turns the error of an unreadable file into an error of the command. Returns any other error unchanged. */
export function toCommandError(error: unknown, exitCode: number): unknown {
  if (!(error instanceof FileError)) return error;
  const { code } = errorCatalogue.invalidInput;
  return new CommandError(error.message, { exitCode, code, cause: error.cause });
}

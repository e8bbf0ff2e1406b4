import { appendFile, lstat, rm } from 'node:fs/promises';
import { CommandError } from '../command-line/errors.ts';
import type { RejectedRow } from './load-rows.ts';

/** A list of rejected rows, as NDJSON. The file does not exist while no row is rejected. */
export interface RejectsFile {
  add(rows: RejectedRow[]): Promise<void>;
}

/**
 * Starts an empty rejects file: removes the file of an earlier import.
 *
 * @throws CommandError when the path is not writable, as `add` does.
 */
export async function createRejectsFile(path: string): Promise<RejectsFile> {
  const throwNotWritable = (cause: unknown) => {
    const message = `cannot write the rejected rows to ${path}: name another file with --rejects`;
    throw new CommandError(message, { cause });
  };
  const isFile = await lstat(path).then(
    (stats) => stats.isFile(),
    () => false,
  );
  // Never removes a device such as /dev/null, which root could do.
  if (isFile) await rm(path).catch(throwNotWritable);
  return {
    async add(rows) {
      const lines = rows.map((row) => `${JSON.stringify(row)}\n`);
      await appendFile(path, lines.join('')).catch(throwNotWritable);
    },
  };
}

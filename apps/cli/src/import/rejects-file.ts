import { appendFile, lstat, rm } from 'node:fs/promises';
import { CommandFailure } from '../command-line/errors.ts';
import type { Refusal } from './load-rows.ts';

/** Where the rows of an import are listed that are not in the store, as NDJSON; no file when all are. */
export interface RejectsFile {
  add(refusals: Refusal[]): Promise<void>;
}

/** Begins a file of rejects; what an earlier import left there is removed. */
export async function createRejectsFile(path: string): Promise<RejectsFile> {
  const unusable = (cause: unknown) => {
    const message = `the rejects cannot be written to ${path}: name another file with --rejects`;
    throw new CommandFailure(message, { cause });
  };
  const isFile = await lstat(path).then(
    (stats) => stats.isFile(),
    () => false,
  );
  // A device such as /dev/null is written to, never removed: root could.
  if (isFile) await rm(path).catch(unusable);
  return {
    async add(refusals) {
      const lines = refusals.map((refusal) => `${JSON.stringify(refusal)}\n`);
      await appendFile(path, lines.join('')).catch(unusable);
    },
  };
}

import { formatJson } from '@plant-store/schemas/plain';
import { CommandError } from '../command-line/errors.ts';
import { writeOutput } from '../command-line/output.ts';
import { confirm, isInteractive, requireTerminal } from '../command-line/question.ts';
import { withStore } from '../command-line/with-store.ts';
import { type IdBatch, readIds } from './read-ids.ts';

export interface DeleteOptions {
  yes?: true;
  json?: true;
}

/** The privileges that a delete needs. A delete also writes to the feed of changes. */
export const deleteNeeds = {
  plants: ['SELECT', 'DELETE'],
  plant_deletions: ['INSERT'],
  plant_feed: ['SELECT'],
} as const;

/**
 * Deletes the plants whose ids are in a file, and writes a summary. Reports on stderr each line that is not
 * an id, and continues.
 *
 * @returns whether every line is an id
 * @throws CommandError when the file cannot be read, the user does not confirm, or the database is down
 */
export async function deleteFile(file: string, { yes, json }: DeleteOptions): Promise<boolean> {
  if (!yes) requireTerminal('delete the plants', file !== '-' && isInteractive());
  const batches = yes ? readIds(file) : await confirmed(file);
  const counts = { deleted: 0, absent: 0, invalid: 0 };
  const summary = () =>
    `${counts.deleted} deleted, ${counts.absent} absent, ${counts.invalid} invalid`;
  await withStore(
    async (store) => {
      for await (const { ids, errors } of batches) {
        counts.invalid += errors.length;
        for (const { line, reason } of errors) {
          process.stderr.write(`plant-store: line ${line}: ${reason}\n`);
        }
        if (ids.length === 0) continue;
        const deleted = await store.deleteMany(ids).catch((error: unknown) => {
          process.stderr.write(`plant-store: stopped after ${summary()}; some ids are left\n`);
          throw error;
        });
        counts.deleted += deleted;
        counts.absent += ids.length - deleted;
      }
    },
    { create: false, needs: deleteNeeds },
  );
  await writeOutput([json ? `${formatJson(counts)}\n` : `${summary()}\n`]);
  return counts.invalid === 0;
}

/** Reads the whole file, because the question to the user contains the number of ids. */
async function confirmed(file: string): Promise<IdBatch[]> {
  const batches = await Array.fromAsync(readIds(file));
  const count = batches.reduce((sum, { ids }) => sum + ids.length, 0);
  const invalid = batches.reduce((sum, { errors }) => sum + errors.length, 0);
  const others = invalid === 0 ? '' : ` (${invalid} lines are not ids)`;
  const isConfirmed = await confirm(`Delete the plants with the ${count} ids in ${file}${others}?`);
  if (!isConfirmed) throw new CommandError(`the plants with the ids in ${file} are not deleted`);
  return batches;
}

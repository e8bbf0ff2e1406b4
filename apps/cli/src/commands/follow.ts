import { allPlants, followChanges, plantStoreError } from '@plant-store/client';
import { maxPageSize } from '@plant-store/schemas/plain';
import { Command } from 'commander';
import { examples } from '../arguments.ts';
import { CommandError } from '../errors.ts';
import { writeJson } from '../output.ts';
import { connect } from '../store.ts';

const help = `
Each line has the type of a change, the plant, and a cursor. To go on after a restart, pass the cursor of
the last line that your program has handled. Some lines then come again, and no change is missing.

--from start first writes each plant as created. These lines have no cursor: after an interruption among
them, begin again with --from start, and empty your copy.
`;

export const followCommand = () =>
  new Command('follow')
    .summary('write each change of the store')
    .description('Write each change as a line of JSON, until somebody interrupts the command.')
    .option('--from <place>', 'where to begin: now, start, or the cursor of a line', 'now')
    .option('--json', 'also write an error as JSON')
    .addHelpText(
      'after',
      help + examples('follow --from start', 'follow --from 0-5f70bf18a0860070-1234'),
    )
    .action(({ from }: { from: string }) => follow(from));

async function follow(from: string): Promise<void> {
  const store = connect();
  const isCursor = from !== 'now' && from !== 'start';
  try {
    // This first call reports a wrong setting. Later calls wait while the store is down.
    const { next } = await store.listPlantChanges.query({
      after: isCursor ? from : undefined,
      limit: 1,
    });
    let cursor = isCursor ? from : next;
    if (from === 'start') {
      // The cursor is older than the list, so no change between the two is missing.
      for await (const plant of allPlants(connect({ timeout: 60_000 }), { limit: maxPageSize })) {
        await writeJson({ type: 'created', plant });
      }
    }
    if (!isCursor) await writeJson({ cursor });
    for await (const { changes, next } of followChanges(store, { after: cursor })) {
      // Only the last line of a page has the new cursor, because a page is applied as a whole.
      const last = changes.length - 1;
      await writeJson(
        ...changes.map((change, at) => ({ ...change, cursor: at === last ? next : cursor })),
      );
      cursor = next;
    }
  } catch (error) {
    const expired = plantStoreError(error);
    if (expired?.kind !== 'cursorExpired') throw error;
    const advice = 'empty your copy, and run follow --from start';
    throw new CommandError(`${expired.message}; ${advice}`, { code: expired.code });
  }
}

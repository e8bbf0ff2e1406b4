import { allPlants, followChanges } from '@plant-store/client';
import { maxPageSize } from '@plant-store/schemas';
import { makeCommand, writeJson } from '../command.ts';
import { connect } from '../store.ts';

const details = `
Each line has the type of a change (created, updated or deleted), the plant, and a cursor. To go on after a
restart, pass the cursor of the last line that your program has handled. Some lines then come again, and no
change is missing.

--from start first writes each plant as created. These lines have no cursor: after an interruption among
them, begin again with --from start, and empty your copy. Do the same when the store rejects an old cursor.
`;

export const followCommand = () =>
  makeCommand('follow', 'write each change as a line of JSON, until a signal', details)
    .option('--from <place>', 'where to begin: now, start, or the cursor of a line', 'now')
    .action(({ from }: { from: string }) => follow(from));

async function follow(from: string): Promise<void> {
  const store = connect();
  const after = from === 'now' || from === 'start' ? undefined : from;
  // This first call reports a wrong setting. Later, `followChanges` waits while the store is down.
  const { next: end } = await store.listPlantChanges.query({ after, limit: 1 });
  let cursor = after ?? end;
  if (from === 'start') {
    // The cursor is older than the list, so no change between the two is missing.
    for await (const plant of allPlants(connect(60_000), { limit: maxPageSize })) {
      await writeJson({ type: 'created', plant });
    }
  }
  if (!after) await writeJson({ cursor });
  for await (const { changes, next } of followChanges(store, { after: cursor })) {
    // Only the last line of a page has the new cursor, because this cursor covers the whole page.
    const last = changes.length - 1;
    const lines = changes.map((each, at) => ({ ...each, cursor: at === last ? next : cursor }));
    await writeJson(...lines);
    cursor = next;
  }
}

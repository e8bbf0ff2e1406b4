import { randomBytes } from 'node:crypto';
import type { DatabaseConnection } from '../database/database.ts';
import { deadlineIn, withTimeout } from '../database/deadline.ts';
import { explainDatabaseError } from '../database/explain-database-error.ts';
import { runOn } from '../database/schema-version.ts';
import { PlantStoreError } from '../plant-store-error.ts';
import { hasSameContent } from '../plants/columns.ts';
import { createPlantStatements } from '../plants/statements.ts';
import type { Hazard } from './hazard.ts';

/** Milliseconds for the commit, and for each lock. */
const trialTimeout = 1_000;

/** Milliseconds for all statements, which are many round trips. */
const statementsTimeout = 10_000;

/**
 * Creates, finds and deletes plants by the statements of requests, and rolls that back. Then it commits a
 * message in the database's log, which changes no table.
 */
export async function tryWrites(connection: DatabaseConnection): Promise<Hazard> {
  const message = (await tryStatements(connection)) ?? (await tryCommit(connection));
  if (message !== undefined) return { check: 'writes', level: 'problem', message };
  return { check: 'writes', level: 'ok', message: 'a create and a delete work; both are undone' };
}

async function tryStatements(connection: DatabaseConnection): Promise<string | undefined> {
  const run = runOn(connection);
  await run('begin');
  try {
    await run(`set local lock_timeout = ${trialTimeout}`);
    await run('set local row_security = off');
    await run('select from plants, plant_deletions, plant_feed, access_tokens where false');
    return await createAndDelete(connection);
  } catch (error) {
    if (error instanceof PlantStoreError)
      return byTrigger('keeps plants, and each delete gets 50001');
    return `a write fails, because ${explainDatabaseError(error)}`;
  } finally {
    await run('rollback');
  }
}

async function createAndDelete(connection: DatabaseConnection): Promise<string | undefined> {
  const deadline = deadlineIn(statementsTimeout);
  const { insert, find, ...statements } = createPlantStatements((text, values) => {
    const sent = typeof values === 'function' ? values(connection.timeOf(deadline)) : values;
    return connection.query(text, sent);
  });
  await insert(plants, deadline);
  await runOn(connection)('set constraints all immediate');
  const found = await find(
    plants.map(({ id }) => id),
    deadline,
  );
  for (const plant of plants) {
    const stored = found.get(plant.id);
    if (!stored) return byTrigger('swallows plants, and each create gets 50001');
    if (!hasSameContent(plant, stored))
      return byTrigger('changes plants, although clients get 200');
  }
  await statements.delete(firstId, deadline);
  return undefined;
}

function byTrigger(what: string): string {
  return `the table ${what}: drop the trigger or the rule that does that`;
}

const firstId = randomBytes(8).readBigUInt64BE() >> 2n;

/** So many and so long that the table needs new pages, because the disk may be full. */
const plants = Array.from({ length: 16 }, (_, i) => ({
  id: firstId + BigInt(i),
  name: `trial ${i}`.padEnd(1_900),
  ...(i % 2 === 0 && { tag: `trial ${i}` }),
}));

async function tryCommit(connection: DatabaseConnection): Promise<string | undefined> {
  const run = runOn(connection);
  await run('begin');
  await run('set local synchronous_commit = on');
  const [standbys] = await run(
    `select current_setting('synchronous_standby_names') as names, pg_logical_emit_message(true, 'plant-store', '')`,
  );
  const commit = run('commit');
  try {
    await withTimeout(commit, trialTimeout);
    return undefined;
  } catch {
    await connection.cancel();
    await commit.catch(() => {}); // The database warns that the standby does not have the commit.
  }
  const { names } = standbys as { names: string }; // The statement returns one row.
  if (names === '')
    return `a commit takes longer than ${trialTimeout} ms: check the disk of the database`;
  return (
    `each create waits for a synchronous standby and gets 50300 (synchronous_standby_names = '${names}'): start ` +
    'that standby, or remove it from the setting'
  );
}

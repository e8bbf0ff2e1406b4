import { randomBytes } from 'node:crypto';
import type { NewPlant } from '@plant-store/schemas';
import type { DatabaseConnection } from '../database/database.ts';
import { isDataError } from '../database/database-error.ts';
import { type Deadline, deadlineIn, withTimeout } from '../database/deadline.ts';
import { explainDatabaseError } from '../database/explain-database-error.ts';
import { send } from '../database/query.ts';
import type { Run } from '../database/verbs.ts';
import { databaseCode } from '../error-causes.ts';
import { PlantStoreError } from '../plant-store-error.ts';
import { hasSameContent } from '../plants/columns.ts';
import { createPlantStatements } from '../plants/statements.ts';
import type { Hazard } from './hazard.ts';

/** The time limit for the commit and for each wait for a lock, in milliseconds. */
const trialTimeout = 1_000;

/** The time limit for all statements together, in milliseconds. The statements need many round trips. */
const statementsTimeout = 10_000;

/**
 * Creates, finds and deletes plants with the statements that requests use, and rolls these changes back. At
 * the end, commits a message to the database's log. The message changes no table.
 */
export async function tryWrites(connection: DatabaseConnection): Promise<Hazard> {
  const found = (await tryStatements(connection)) ?? (await tryCommit(connection));
  if (found) return { check: 'writes', ...found };
  return { check: 'writes', level: 'ok', message: 'a create and a delete work; both are undone' };
}

type Found = Pick<Hazard, 'level' | 'message'>;

async function tryStatements(connection: DatabaseConnection): Promise<Found | undefined> {
  const { query } = connection;
  await send(query, 'begin');
  try {
    await send(query, `set local lock_timeout = ${trialTimeout}`);
    await send(query, 'set local row_security = off');
    await send(query, 'select from plants, plant_deletions, plant_feed, access_tokens where false');
    await send(query, 'savepoint trial');
    return await tryPlants(connection);
  } catch (error) {
    return { level: 'problem', message: `a write fails, because ${explainDatabaseError(error)}` };
  } finally {
    await send(query, 'rollback');
  }
}

/**
 * Tries all plants together. If the plants cause an error, tries the two plants with short names one by one:
 * every constraint should allow these two plants.
 */
async function tryPlants(connection: DatabaseConnection): Promise<Found | undefined> {
  const deadline = deadlineIn(statementsTimeout);
  const attempt = (plants: readonly NewPlant[]) => createAndDelete(connection, plants, deadline);
  const ofAll = await attempt([untagged, tagged, ...long]);
  if (!ofAll) return undefined;
  if (!ofAll.isOfPlants) return { level: 'problem', message: ofAll.message };
  const [ofUntagged, ofTagged] = [await attempt([untagged]), await attempt([tagged])];
  if (ofUntagged && ofTagged) {
    // If the table has plants, the operator may have added the constraint on purpose, so the error is only a
    // warning.
    const isRule = ofUntagged.isOfConstraint && (await hasPlants(connection));
    return { level: isRule ? 'warning' : 'problem', message: ofUntagged.message };
  }
  // If only the plants with long names cause an error, this trial reports nothing: the check `tables` reports
  // the constraint or the trigger.
  const some = ofUntagged ?? ofTagged;
  if (!some) return undefined;
  const kind = ofUntagged ? 'a plant without a tag' : 'a plant with a tag';
  return { level: 'warning', message: `for ${kind}, ${some.message}` };
}

async function hasPlants(connection: DatabaseConnection): Promise<boolean> {
  return (await send(connection.query, 'select from plants limit 1')).length > 0;
}

/** An error that a trial has found. */
interface TrialError {
  readonly message: string;
  /** Whether the error may depend on the plants of the trial. */
  readonly isOfPlants: boolean;
  readonly isOfConstraint: boolean;
}

async function createAndDelete(
  connection: DatabaseConnection,
  plants: readonly NewPlant[],
  deadline: Deadline,
): Promise<TrialError | undefined> {
  const { query } = connection;
  const run: Run = (text, values) =>
    query(text, typeof values === 'function' ? values(connection.timeOf(deadline)) : values);
  const { insert, find, ...statements } = createPlantStatements({ read: run, write: run });
  const byTrigger = (what: string): TrialError => {
    const message = `the table ${what}: drop the trigger or the rule that does that`;
    return { message, isOfPlants: true, isOfConstraint: false };
  };
  try {
    await insert(plants, deadline);
    await send(query, 'set constraints all immediate');
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
    for (const { id } of plants.slice(0, 1)) await statements.delete(id, { deadline });
    return undefined;
  } catch (error) {
    if (error instanceof PlantStoreError)
      return byTrigger('keeps plants, and each delete gets 50001');
    return {
      message: `a write fails, because ${explainDatabaseError(error)}`,
      isOfPlants: isDataError(error),
      isOfConstraint: databaseCode(error)?.startsWith('23') === true,
    };
  } finally {
    await send(query, 'rollback to trial');
  }
}

const firstId = randomBytes(8).readBigUInt64BE() >> 2n;

/**
 * The name contains only letters and spaces, because a constraint may forbid other characters. The name is
 * random, because names may have to be unique.
 */
const name = `Trial ${firstId.toString(36).replaceAll(/\d/g, '')}`;

const untagged: NewPlant = { id: firstId, name };
const tagged: NewPlant = { id: firstId + 1n, name: `${name} tagged`, tag: 'Trial' };

/** The long names make the table's file grow, so the trial notices a full disk. */
const long: readonly NewPlant[] = Array.from({ length: 16 }, (_, i) => ({
  id: firstId + BigInt(2 + i),
  name: `${name} ${i}`.padEnd(1_900),
}));

async function tryCommit(connection: DatabaseConnection): Promise<Found | undefined> {
  const { query } = connection;
  await send(query, 'begin');
  await send(query, 'set local synchronous_commit = on');
  const [standbys] = await send<{ names: string }>(
    query,
    `select current_setting('synchronous_standby_names') as names, pg_logical_emit_message(true, 'plant-store', '')`,
  );
  const commit = send(query, 'commit');
  try {
    await withTimeout(commit, trialTimeout);
    return undefined;
  } catch {
    await connection.cancel();
    // The promise is rejected if the standby has not confirmed the commit.
    await commit.catch(() => {});
  }
  const message = !standbys?.names
    ? `a commit takes longer than ${trialTimeout} ms: check the disk of the database`
    : `each create waits for a synchronous standby and gets 50300 (synchronous_standby_names = '${standbys.names}'): start ` +
      'that standby, or remove it from the setting';
  return { level: 'problem', message };
}

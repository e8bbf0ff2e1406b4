import { selectChanges } from '../changes/statements.ts';
import type { Rows, Values } from '../database/database.ts';
import { outcomeOf } from '../database/errors.ts';
import type { PostgresSession } from '../database/session.ts';
import * as plants from '../plants/statements.ts';
import { createHorizon, selectFromCitus } from './horizon.ts';
import { insertValues, withFewerRows } from './statements.ts';
import { createWrites, isNodeError } from './writes.ts';

/** The minimum time between two recoveries of prepared transactions, in milliseconds. */
const recoveryPause = 1_000;

/**
 * On a Citus cluster, the store sends its statements to the coordinator, with these differences:
 *
 * - An insert lists its rows as `values`. Citus would first collect the rows of `unnest` on the coordinator.
 * - Citus cannot plan a delete of plants in several shards. The store then sends a delete for each shard.
 * - The store reads pages one by one. For counts and searches, nodes send fewer plants to the coordinator.
 * - The feed waits for the nodes: see `horizon.ts`.
 * - If the outcome of a write is unknown, the store begins to complete the prepared transactions.
 *
 * The statements also work before the plants are distributed, so an operator can distribute the plants later.
 *
 * @param open opens a further session on the coordinator
 * @returns a function that turns a session of a Postgres with Citus into a session of the cluster
 */
export function createCluster(open: () => Promise<PostgresSession>) {
  const write = createWrites(recover);
  const readChanges = createHorizon(recover);
  let recovering = Promise.resolve();
  let recoveredAt = Number.NEGATIVE_INFINITY;

  return async (session: PostgresSession): Promise<PostgresSession> => {
    // The feed needs the transaction numbers of the coordinator. A worker has other numbers.
    if (await selectFromCitus(session, 'groupid from pg_dist_local_group where groupid <> 0')) {
      session.drop();
      const message = 'this is the address of a worker of a Citus cluster';
      throw Object.assign(new Error(message), { code: 'CITUS_WORKER' });
    }
    return {
      ...session,
      // A session with an old connection to a silent node waits beyond every time limit. A new session does
      // not wait. So the empty id makes the pool drop the session of an overdue statement.
      id: '',
      get isOpen() {
        return session.isOpen;
      },
      async query(text, values) {
        if (text === plants.insertPlants) {
          const [insert, row] = insertValues(values);
          return write(session, idsOf(values), () =>
            session.query(insert, row, { isPrepared: false }),
          );
        }
        if (text === plants.deletePlants || text === plants.replacePlant) {
          return write(session, idsOf(values), () => session.query(text, values));
        }
        // `false` means that a page may have a large plant. The caller then reads each page separately.
        if (text === plants.selectPagesOfAll || text === plants.selectPagesOfTag) {
          return { rows: idsOf(values).map(() => [false]) };
        }
        if (text === selectChanges) return read(session, () => readChanges(session, values));
        return read(session, () => session.query(withFewerRows(text), values));
      },
    };
  };

  /** Commits the prepared transactions that the coordinator has committed, and rolls back the others. */
  function recover(): Promise<void> {
    if (performance.now() - recoveredAt < recoveryPause) return recovering;
    recoveredAt = performance.now();
    recovering = open().then(async (session) => {
      await session.query('select recover_prepared_transactions()', []).finally(session.drop);
    });
    recovering.catch(() => {});
    return recovering;
  }
}

/** Returns the ids in the first parameter: the ids of plants, or the lowest id of each page. */
const idsOf = ([ids]: Values) => (ids ?? '').replaceAll(/[{}]/g, '').split(',');

/** Repeats a read once after an error of a node, which may only have ended its session meanwhile. */
function read(session: PostgresSession, send: () => Promise<Rows>): Promise<Rows> {
  return send().catch((error) => {
    if (session.isOpen && (outcomeOf(error) === 'unconfirmed' || isNodeError(error))) return send();
    throw error;
  });
}

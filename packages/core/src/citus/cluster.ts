import { selectChanges } from '../changes/statements.ts';
import type { Rows, Values } from '../database/database.ts';
import { outcomeOf } from '../database/errors.ts';
import type { PostgresSession } from '../database/session.ts';
import * as plants from '../plants/statements.ts';
import { createHorizon, selectFromCitus } from './horizon.ts';
import { insertValues, withFewerRows } from './statements.ts';
import { createWrites, isNodeError } from './writes.ts';

/** Milliseconds between two attempts at recovery. */
const recoveryPause = 1_000;

/**
 * The store on a Citus cluster sends the same statements to the coordinator, with these differences:
 *
 * - an insert has its rows as `values`, because Citus would pull `unnest` through the coordinator
 * - a delete of plants in several shards is sent again for each shard, because Citus cannot plan it
 * - pages are read one by one, and counts and searches send fewer plants to the coordinator
 * - the feed waits for the nodes: see `horizon.ts`
 * - after a write in doubt, the prepared transactions on the nodes are completed before the response
 *
 * All of this also works before the plants are distributed, so an operator may distribute them at any time.
 *
 * @param open opens a further session on the coordinator
 * @returns a function that makes a session of the coordinator from a session of a Postgres with Citus
 */
export function createCluster(open: () => Promise<PostgresSession>) {
  const write = createWrites(recover);
  const readChanges = createHorizon(recover);
  let recovering = Promise.resolve();
  let recoveredAt = Number.NEGATIVE_INFINITY;

  return async (session: PostgresSession): Promise<PostgresSession> => {
    // A worker has other transaction numbers than the coordinator.
    if (await selectFromCitus(session, 'groupid from pg_dist_local_group where groupid <> 0')) {
      session.drop();
      const message = 'the address is that of a worker of a Citus cluster';
      throw Object.assign(new Error(message), { code: 'CITUS_WORKER' });
    }
    return {
      ...session,
      // A session waits for a silent node longer than any time limit, but a new session does not. So the empty id
      // makes the pool drop the session of an overdue statement.
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
        // The caller reads a page alone when the database says that the page has a large plant.
        if (text === plants.selectPagesOfAll || text === plants.selectPagesOfTag) {
          return { rows: idsOf(values).map(() => [false]) };
        }
        if (text === selectChanges) return read(session, () => readChanges(session, values));
        return read(session, () => session.query(withFewerRows(text), values));
      },
    };
  };

  /** Completes the prepared transactions that the coordinator has committed, and rolls the others back. */
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

/** The first parameter of each statement on several plants has their ids, or the lowest ids of pages. */
const idsOf = ([ids]: Values) => (ids ?? '').replaceAll(/[{}]/g, '').split(',');

/** Repeats a read once: after the end of a node's session, the coordinator has a broken connection to the node. */
function read(session: PostgresSession, send: () => Promise<Rows>): Promise<Rows> {
  return send().catch((error) => {
    if (session.isOpen && (outcomeOf(error) === 'unconfirmed' || isNodeError(error))) return send();
    throw error;
  });
}

import { setTimeout } from 'node:timers/promises';
import { selectChanges } from '../changes/statements.ts';
import type { Rows, Values } from '../database/database.ts';
import { DatabaseSettingsError, isUnconfirmed, unconfirmedCommit } from '../database/errors.ts';
import type { PostgresSession } from '../database/session.ts';
import { databaseCode } from '../plant-store-error.ts';
import {
  deletePlants,
  insertPlants,
  replacePlant,
  selectPageOfAll,
  selectPageOfTag,
  selectPagesOfAll,
  selectPagesOfTag,
} from '../plants/statements.ts';
import { Horizon } from './horizon.ts';

import { Nodes } from './nodes.ts';
import { insertValues, rowsOf, selectPage, withFewerRows } from './statements.ts';

/** Makes a session of a coordinator from a session of a Postgres with Citus. */
export type Join = (session: PostgresSession) => Promise<PostgresSession>;

/** After an attempt at recovery, the next one waits for this many milliseconds. */
const recoveryPause = 1_000;

/** A write waits for recovery for this many milliseconds. */
const recoveryPatience = 2_000;

/**
 * The store on a Citus cluster is the same store, by the same statements. Only these statements differ:
 *
 * - an insert has its rows as `values`, because Citus would pull `unnest` through the coordinator
 * - deletes of several plants are sent again for each shard, because Citus plans such a delete only for one
 * - counts and searches send fewer plants to the coordinator
 * - several pages of a list are read one by one, because Citus does not plan them together
 * - the feed waits for the workers: see `horizon.ts`
 * - after a write in doubt, the prepared transactions on the workers are completed before the response
 *
 * All of them also work while nobody has distributed the tables, so somebody may do that at any time.
 *
 * @param open opens a further session on the coordinator
 */
export function createCluster(open: () => Promise<PostgresSession>): Join {
  const nodes = new Nodes();
  const horizon = new Horizon(recover);
  let recovering: Promise<void> | undefined;
  let recoveredAt = Number.NEGATIVE_INFINITY;

  return async (session) => {
    await rejectWorker(session);
    /** Whether a statement runs whose end on one node may take any time, such as a commit. */
    let isOnOneNode = false;

    async function query(text: string, values: Values): Promise<Rows> {
      if (text === insertPlants) return insert(values);
      if (text === deletePlants) return remove(values);
      if (text === replacePlant)
        return write([String(values[0])], () => session.query(text, values));
      if (text === selectChanges) return read(() => horizon.readChanges(session, values));
      // The caller reads a page alone when the database says that the page has a large plant.
      if (text === selectPagesOfAll || text === selectPagesOfTag) {
        return { rows: idsOf(values).map(() => [false]), count: 0 };
      }
      const [lowest = null, limit = null, words = null, tag = null] = values;
      if ((text === selectPageOfAll || text === selectPageOfTag) && words === null) {
        return read(() => session.query(selectPage, [lowest, limit, tag]));
      }
      return read(() => session.query(withFewerRows(text), values));
    }

    /** Repeats a read once: after the restart of a node, the coordinator's connections to the node are broken. */
    const read = (send: () => Promise<Rows>) =>
      send().catch((error) => {
        if (session.isOpen && isNodeError(error) && databaseCode(error) !== '57014') return send();
        throw error;
      });

    function insert([ids = null, names = null, tags = null, deadline = null]: Values) {
      const rows = rowsOf(ids, names, tags);
      const insertion = [deadline, ...rows.flat()];
      const send = () => session.query(insertValues(rows.length), insertion, { isPrepared: false });
      return write(
        rows.map(([id]) => String(id)),
        send,
      );
    }

    async function remove(values: Values): Promise<Rows> {
      const ids = idsOf(values);
      try {
        return await write(ids, () => session.query(deletePlants, values));
      } catch (error) {
        if (databaseCode(error) !== '0A000') throw error;
        throw (await nodes.partsError(session, ids, 'shard', error)) ?? error;
      }
    }

    /** Sends a write of plants. Its outcome is certain when this function returns or throws. */
    async function write(ids: readonly string[], send: () => Promise<Rows>): Promise<Rows> {
      const node = await nodes.enter(session, ids);
      isOnOneNode = ids.length === 1 || node !== undefined;
      try {
        return await send();
      } catch (error) {
        const isTrouble = !session.isOpen || isNodeError(error);
        if (!isTrouble && !isUnconfirmed(error)) throw error;
        if (isTrouble) nodes.suspect(node);
        await Promise.race([recover(), setTimeout(recoveryPatience)]).catch(() => {});
        if (!session.isOpen || isUnconfirmed(error)) throw error;
        // On several nodes, a transaction that has ended with an error has changed nothing.
        const parts = await nodes.partsError(session, ids, 'node', error);
        throw parts ?? unconfirmedCommit();
      } finally {
        isOnOneNode = false;
        nodes.leave(node);
      }
    }

    return {
      ...session,
      get isOpen() {
        return session.isOpen;
      },
      get isOnSeveralNodes() {
        return !isOnOneNode;
      },
      query,
    };
  };

  /**
   * Completes the transactions that are prepared on the workers and whose coordinator has committed them, and
   * rolls the others back. Until then nobody sees their plants.
   */
  function recover(): Promise<void> {
    if (performance.now() - recoveredAt < recoveryPause) return recovering ?? Promise.resolve();
    recoveredAt = performance.now();
    recovering = open().then((session) =>
      session
        .query('select recover_prepared_transactions()', [])
        .then(() => {})
        .finally(session.drop),
    );
    recovering.catch(() => {});
    return recovering;
  }
}

/** The ids of plants are the first parameter of a statement. */
const idsOf = ([ids]: Values) => (ids ?? '{}').slice(1, -1).split(',');

/** Whether a statement has ended because a node is down, or did not respond in time. */
function isNodeError(error: unknown): boolean {
  const code = databaseCode(error) ?? '';
  return code.startsWith('08') || code.startsWith('57') || code === 'XX000';
}

/** @throws DatabaseSettingsError on a worker, whose transaction numbers are not those of the coordinator */
async function rejectWorker(session: PostgresSession): Promise<void> {
  try {
    const { rows } = await session.query('select groupid::text from pg_dist_local_group', []);
    if (rows[0]?.[0] === '0' || rows.length === 0) return;
  } catch (error) {
    // Somebody has loaded Citus, but has not created the extension in this database.
    if (databaseCode(error) === '42P01') return;
    throw error;
  }
  session.drop();
  throw new DatabaseSettingsError(
    'set DATABASE_URL to the address of the coordinator',
    new Error('the address is that of a worker of a Citus cluster'),
  );
}

import { setTimeout } from 'node:timers/promises';
import { selectChanges } from '../changes/statements.ts';
import type { Rows } from '../database/database.ts';
import { isUnconfirmed, PartsError, unconfirmedCommit } from '../database/errors.ts';
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
import { createHorizon } from './horizon.ts';
import { Nodes, partsOf } from './nodes.ts';
import { insertValues, rowsOf, selectPage, withFewerRows } from './statements.ts';

/** Makes a session of a coordinator from a session of a Postgres with Citus. */
export type Join = (session: PostgresSession) => Promise<PostgresSession>;

/** The pause between two attempts at recovery, and the time for which a write waits, in milliseconds. */
const recoveryPause = 1_000;
const recoveryPatience = 2_000;

/**
 * The store on a Citus cluster sends the same statements to the coordinator. Only these differ:
 *
 * - an insert has its rows as `values`, because Citus would pull `unnest` through the coordinator
 * - deletes of several plants are sent again for each shard, because Citus plans such a delete only for one
 * - pages are read one by one, and counts and searches send fewer plants to the coordinator
 * - the feed waits for the nodes: see `horizon.ts`
 * - after a write in doubt, the prepared transactions on the nodes are completed before the response
 *
 * All of this also works while nobody has distributed the plants, so somebody may do that at any time.
 *
 * @param open opens a further session on the coordinator
 */
export function createCluster(open: () => Promise<PostgresSession>): Join {
  const nodes = new Nodes();
  const readChanges = createHorizon(recover);
  let recovering = Promise.resolve();
  let recoveredAt = Number.NEGATIVE_INFINITY;

  return async (session) => {
    await rejectWorker(session).catch((error) => {
      session.drop();
      throw error;
    });
    return {
      ...session,
      get isOpen() {
        return session.isOpen;
      },
      async query(text, values) {
        const [first, limit = null, words = null, tag = null] = values;
        const ids = (first ?? '{}').slice(1, -1).split(',');
        switch (text) {
          case insertPlants: {
            const rows = rowsOf(values.slice(0, 3));
            const [insert, row] = [insertValues(rows.length), [values[3] ?? null, ...rows.flat()]];
            return write(session, ids, () => session.query(insert, row, { isPrepared: false }));
          }
          case deletePlants:
            return write(session, ids, () => session.query(text, values));
          case replacePlant:
            return write(session, [String(first)], () => session.query(text, values));
          case selectPagesOfAll:
          case selectPagesOfTag:
            // The caller reads a page alone when the database says that the page has a large plant.
            return { rows: ids.map(() => [false]), count: 0 };
          case selectChanges:
            return read(session, () => readChanges(session, values));
        }
        const isPage = [selectPageOfAll, selectPageOfTag].includes(text) && words === null;
        if (isPage)
          return read(session, () => session.query(selectPage, [first ?? null, limit, tag]));
        return read(session, () => session.query(withFewerRows(text), values));
      },
    };
  };

  /** Sends a write of plants. Its outcome is certain when this function returns or throws. */
  async function write(session: PostgresSession, ids: string[], send: () => Promise<Rows>) {
    const node = await nodes.enter(session, ids);
    try {
      return await send();
    } catch (error) {
      if (databaseCode(error) === '0A000') throw (await partsError(session, ids, 'shard')) ?? error;
      const isTrouble = !session.isOpen || isNodeError(error);
      if (!isTrouble && !isUnconfirmed(error)) throw error;
      if (isTrouble) nodes.suspect(node);
      await Promise.race([recover(), setTimeout(recoveryPatience)]).catch(() => {});
      if (!session.isOpen || isUnconfirmed(error)) throw error;
      // On several nodes, a transaction that has ended with an error has changed nothing.
      throw (await partsError(session, ids, 'node')) ?? unconfirmedCommit();
    } finally {
      nodes.leave(node);
    }
  }

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

/** Repeats a read once: after the restart of a node, the coordinator's connections to the node are broken. */
function read(session: PostgresSession, send: () => Promise<Rows>): Promise<Rows> {
  return send().catch((error) => {
    if (session.isOpen && isNodeError(error) && databaseCode(error) !== '57014') return send();
    throw error;
  });
}

async function partsError(session: PostgresSession, ids: string[], by: 'node' | 'shard') {
  const parts = await partsOf(session, ids, by);
  return parts.size > 1 ? new PartsError([...parts.values()]) : undefined;
}

/** Whether a statement has ended because a node is down, or did not respond in time. */
function isNodeError(error: unknown): boolean {
  return /^(08|57|XX000)/.test(databaseCode(error) ?? '');
}

/** Throws an error on a worker, whose transaction numbers are not those of the coordinator. */
async function rejectWorker(session: PostgresSession): Promise<void> {
  const group = 'select groupid from pg_dist_local_group where groupid <> 0';
  const { rows } = await session.query(group, []).catch((error) => {
    // The database does not have the extension.
    if (databaseCode(error) === '42P01') return { rows: [] };
    throw error;
  });
  if (rows.length === 0) return;
  const message = 'the address is that of a worker of a Citus cluster';
  throw Object.assign(new Error(message), { code: 'CITUS_WORKER' });
}

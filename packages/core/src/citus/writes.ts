import type { Rows } from '../database/database.ts';
import { deadlineIn, withDeadline } from '../database/deadline.ts';
import { outcomeOf, PartsError, StatementError, unconfirmedCommit } from '../database/errors.ts';
import type { PostgresSession } from '../database/session.ts';
import { databaseCode } from '../plant-store-error.ts';

/** The time limit of a write in milliseconds. The nodes end a wait for a lock after 4 s. */
const timeLimit = 4_200;

/**
 * For this many milliseconds after an error of a node or a failed recovery, each write has plants of one node,
 * which must respond within `patience`. Only a failed recovery extends this time: a slow node may be healthy.
 */
const suspicion = 5_000;
const patience = 700;

/** A node that does not respond in time gets no writes for this many milliseconds. */
const silence = 2_000;

/**
 * Makes a function that sends writes of plants. The database's time limits do not work on an open connection
 * to a frozen node, so this process limits each write, too.
 *
 * @param recover completes the prepared transactions on the nodes
 */
export function createWrites(recover: () => Promise<void>) {
  let suspectUntil = Number.NEGATIVE_INFINITY;
  const silentUntil = new Map<string, number>();
  const suspect = () => {
    suspectUntil = performance.now() + suspicion;
  };

  return async function write(session: PostgresSession, ids: string[], send: () => Promise<Rows>) {
    const isSuspect = performance.now() < suspectUntil;
    try {
      if (isSuspect) return await sendToNode(session, ids, send);
      return await withDeadline(send(), deadlineIn(timeLimit));
    } catch (error) {
      const outcome = outcomeOf(error);
      if (outcome === 'overdue') session.drop();
      const isTrouble = !session.isOpen || isNodeError(error);
      if (isTrouble && !isSuspect) suspect();
      if (isTrouble || outcome === 'unconfirmed') {
        const recovered = recover().catch(suspect);
        // A frozen node cannot complete its prepared transactions now.
        if (outcome !== 'overdue') await recovered;
      }
      // A transaction on several nodes changes nothing if it ends with an error.
      const isForShards = databaseCode(error) === '0A000';
      if (!session.isOpen || !(isTrouble || isForShards)) throw error;
      const parts = await partsOf(session, ids, isForShards ? 'shard' : 'node');
      if (parts.size > 1) throw new PartsError([...parts.values()]);
      throw isTrouble ? unconfirmedCommit() : error;
    }
  };

  async function sendToNode(session: PostgresSession, ids: string[], send: () => Promise<Rows>) {
    const parts = await partsOf(session, ids, 'node');
    if (parts.size > 1) throw new PartsError([...parts.values()]);
    const [node = ''] = parts.keys();
    if (performance.now() < (silentUntil.get(node) ?? 0)) {
      throw new StatementError('notSent', 'the node of the plant does not respond');
    }
    return withDeadline(send(), deadlineIn(patience)).catch((error) => {
      if (outcomeOf(error) === 'overdue') silentUntil.set(node, performance.now() + silence);
      throw error;
    });
  }
}

/** Whether a statement has ended because a node is down. */
export function isNodeError(error: unknown): boolean {
  return /^(08|57P|XX000)/.test(databaseCode(error) ?? '');
}

/** Groups ids by their node or shard. Returns an empty map after an error, or without distributed plants. */
async function partsOf(session: PostgresSession, ids: string[], by: 'node' | 'shard') {
  const { rows } = await session.query(selectParts, [`{${ids}}`]).catch(() => ({ rows: [] }));
  const places = Map.groupBy(rows, ([, node, shard]) => String(by === 'node' ? node : shard));
  return new Map([...places].map(([place, rows]) => [place, rows.map(([id]) => String(id))]));
}

const selectParts = `
  select id::text, groupid::text, shardid::text
  from unnest($1::bigint[]) as id
    join pg_dist_placement on shardid = get_shard_id_for_distribution_column('plants', id)`;

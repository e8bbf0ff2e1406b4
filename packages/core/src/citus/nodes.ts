import { setTimeout } from 'node:timers/promises';
import { NotSentError, PartsError } from '../database/errors.ts';
import type { PostgresSession } from '../database/session.ts';

/** After trouble with a node, batches go by node for this many milliseconds. */
const suspicion = 5_000;

/** While batches go by node, a statement waits for this many milliseconds for the last one of its node. */
const patience = 500;

/** A node with an error gets no statement for this many milliseconds. */
const pause = 1_000;

/**
 * What this process knows about the nodes with plants.
 *
 * A statement on an open connection to a frozen node ends with the freeze, whatever the time limits are. So
 * after trouble with any node, each node gets one statement at a time, with its own plants only. A node that
 * keeps its statement, or ends it with an error, gets no further one: the callers get an error immediately.
 */
export class Nodes {
  #suspectUntil = Number.NEGATIVE_INFINITY;
  readonly #running = new Map<string, PromiseWithResolvers<void> & { since: number }>();
  readonly #pausedUntil = new Map<string, number>();

  /** Notes trouble with a node, or with one of several nodes. */
  suspect(node: string | undefined): void {
    this.#suspectUntil = performance.now() + suspicion;
    if (node !== undefined) this.#pausedUntil.set(node, performance.now() + pause);
  }

  /**
   * Call this method before a write of plants. Without suspicion, does nothing. Otherwise returns the node of
   * the plants, when it may get the write.
   *
   * @throws PartsError when the plants are on several nodes, and NotSentError when their node is in trouble
   */
  async enter(session: PostgresSession, ids: readonly string[]): Promise<string | undefined> {
    if (performance.now() > this.#suspectUntil) return undefined;
    const parts = await plantsBy(session, ids, 'node');
    if (parts.size > 1) throw new PartsError([...parts.values()]);
    const [node] = parts.keys();
    if (node === undefined) return undefined;
    for (let last = this.#running.get(node); last; last = this.#running.get(node)) {
      const left = last.since + patience - performance.now();
      if (left <= 0) throw notResponding();
      await Promise.race([last.promise, setTimeout(left)]);
    }
    if (performance.now() < (this.#pausedUntil.get(node) ?? 0)) throw notResponding();
    this.#running.set(node, { ...Promise.withResolvers<void>(), since: performance.now() });
    return node;
  }

  /** Call this method after the write. */
  leave(node: string | undefined): void {
    if (node === undefined) return;
    this.#running.get(node)?.resolve();
    this.#running.delete(node);
  }

  /** Returns an error that names the parts of a batch, or undefined when there is only one. */
  async partsError(
    session: PostgresSession,
    ids: readonly string[],
    by: 'node' | 'shard',
    cause: unknown,
  ): Promise<PartsError | undefined> {
    const parts = ids.length > 1 ? await plantsBy(session, ids, by) : new Map();
    return parts.size > 1 ? new PartsError([...parts.values()], { cause }) : undefined;
  }
}

const notResponding = () => new NotSentError('the node of the plant does not respond');

/** Returns the ids by their node or shard. The map is empty when the tables are not distributed. */
async function plantsBy(session: PostgresSession, ids: readonly string[], by: 'node' | 'shard') {
  const { rows } = await session.query(selectPlaces, [`{${ids}}`]).catch(() => ({ rows: [] }));
  const places = Map.groupBy(rows, ([, node, shard]) => String(by === 'node' ? node : shard));
  return new Map([...places].map(([place, rows]) => [place, rows.map(([id]) => String(id))]));
}

const selectPlaces = `
  select id::text, groupid::text, shardid::text
  from unnest($1::bigint[]) as id
    join pg_dist_placement on shardid = get_shard_id_for_distribution_column('plants', id)`;

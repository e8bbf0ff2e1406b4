import { setTimeout } from 'node:timers/promises';
import { NotSentError, PartsError } from '../database/errors.ts';
import type { PostgresSession } from '../database/session.ts';

/** After trouble with a node, batches go by node for this many milliseconds. */
const suspicion = 5_000;

/** A node in trouble gets no write for this many milliseconds. */
const pause = 1_000;

/** Meanwhile, a write waits for the last write of its node for this many milliseconds. */
const patience = 500;

/**
 * What this process knows about the nodes with plants.
 *
 * A statement on an open connection to a frozen node ends with the freeze, whatever the time limits are. So
 * after trouble with any node, each node gets one write at a time, with its own plants only. A node that keeps
 * its write, or ends it with an error, gets no further one: the callers get an error immediately.
 */
export class Nodes {
  #suspectUntil = Number.NEGATIVE_INFINITY;
  readonly #pausedUntil = new Map<string, number>();
  readonly #running = new Map<string, PromiseWithResolvers<void> & { since: number }>();

  /** Notes trouble with a node, or with one of several nodes. */
  suspect(node: string | undefined): void {
    this.#suspectUntil = performance.now() + suspicion;
    if (node !== undefined) this.#pausedUntil.set(node, performance.now() + pause);
  }

  /**
   * Call this method before a write of plants. Returns their node if there was trouble with any node.
   *
   * @throws PartsError when the plants are on several nodes, and NotSentError when their node is in trouble
   */
  async enter(session: PostgresSession, ids: readonly string[]): Promise<string | undefined> {
    if (performance.now() > this.#suspectUntil) return undefined;
    const parts = await partsOf(session, ids, 'node');
    if (parts.size > 1) throw new PartsError([...parts.values()]);
    const [node] = parts.keys();
    if (node === undefined) return undefined;
    for (let last = this.#running.get(node); last; last = this.#running.get(node)) {
      const left = last.since + patience - performance.now();
      if (left <= 0) throw silent();
      await Promise.race([last.promise, setTimeout(left)]);
    }
    if (performance.now() < (this.#pausedUntil.get(node) ?? 0)) throw silent();
    this.#running.set(node, { ...Promise.withResolvers<void>(), since: performance.now() });
    return node;
  }

  /** Call this method after the write. */
  leave(node: string | undefined): void {
    if (node === undefined) return;
    this.#running.get(node)?.resolve();
    this.#running.delete(node);
  }
}

const silent = () => new NotSentError('the node of the plant does not respond');

/** Returns the ids by their node or shard. There is no part when the plants are not distributed. */
export async function partsOf(
  session: PostgresSession,
  ids: readonly string[],
  by: 'node' | 'shard',
): Promise<Map<string, string[]>> {
  const { rows } = await session.query(selectParts, [`{${ids}}`]).catch(() => ({ rows: [] }));
  const parts = new Map<string, string[]>();
  for (const [id, node, shard] of rows.map((row) => row.map(String))) {
    const place = (by === 'node' ? node : shard) ?? '';
    parts.set(place, [...(parts.get(place) ?? []), id ?? '']);
  }
  return parts;
}

const selectParts = `
  select id::text, groupid::text, shardid::text
  from unnest($1::bigint[]) as id
    join pg_dist_placement on shardid = get_shard_id_for_distribution_column('plants', id)`;

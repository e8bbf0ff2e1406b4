import { setTimeout } from 'node:timers/promises';
import { PartsError, StatementError } from '../database/errors.ts';
import type { PostgresSession } from '../database/session.ts';

/** After trouble with a node, batches go by node for this many milliseconds. */
const suspicion = 5_000;

/** Meanwhile, a write waits for the last write of its node for this many milliseconds. */
const patience = 500;

/**
 * What this process knows about the nodes with plants. A statement on an open connection to a frozen node ends
 * with the freeze, whatever the time limits are. So after trouble with any node, each node gets one write at a
 * time, with its own plants only. While a node keeps its write, further ones get an error immediately.
 */
export class Nodes {
  #suspectUntil = Number.NEGATIVE_INFINITY;
  readonly #running = new Map<string, PromiseWithResolvers<void> & { since: number }>();

  /** Notes trouble with a node. */
  suspect(): void {
    this.#suspectUntil = performance.now() + suspicion;
  }

  /**
   * Sends a write of plants.
   *
   * @throws PartsError when the plants should be sent by node, and StatementError when their node is in trouble
   */
  async write<T>(session: PostgresSession, ids: string[], send: () => Promise<T>): Promise<T> {
    if (performance.now() > this.#suspectUntil) return send();
    const parts = await partsOf(session, ids, 'node');
    if (parts.size > 1) throw new PartsError([...parts.values()]);
    const [node = ''] = parts.keys();
    for (let last = this.#running.get(node); last; last = this.#running.get(node)) {
      const left = last.since + patience - performance.now();
      if (left <= 0) throw new StatementError('notSent', 'the node of the plant does not respond');
      await Promise.race([last.promise, setTimeout(left)]);
    }
    const running = { ...Promise.withResolvers<void>(), since: performance.now() };
    this.#running.set(node, running);
    return send().finally(() => {
      this.#running.delete(node);
      running.resolve();
    });
  }
}

/** Returns the ids by their node or shard. There is no part when the plants are not distributed. */
export async function partsOf(session: PostgresSession, ids: string[], by: 'node' | 'shard') {
  const { rows } = await session.query(selectParts, [`{${ids}}`]).catch(() => ({ rows: [] }));
  const places = Map.groupBy(rows, ([, node, shard]) => String(by === 'node' ? node : shard));
  return new Map([...places].map(([place, rows]) => [place, rows.map(([id]) => String(id))]));
}

const selectParts = `
  select id::text, groupid::text, shardid::text
  from unnest($1::bigint[]) as id
    join pg_dist_placement on shardid = get_shard_id_for_distribution_column('plants', id)`;

import type { Query } from '@plant-store/core/cluster';
import { readShardMap, type ShardMap, type ShardState } from './shard-map.ts';

/** Milliseconds between two reads of the shards. */
const interval = 15_000;

export interface ShardWatch {
  /** The shards from the last read. Undefined when there are no shards, or before the first read. */
  readonly current: ShardMap | undefined;
  /** Reads the shards. The promise is never rejected. */
  refresh(): Promise<void>;
  /** Stops the reads, and ignores the result of a read in progress. */
  stop(): void;
}

/**
 * Reads the shards immediately and after each interval, because a database can become a cluster at any time.
 * An outdated map does no harm, because the database checks which node stores a plant.
 */
export function watchShards(
  query: Query,
  onRead: (state: ShardState) => void = () => {},
): ShardWatch {
  let current: ShardMap | undefined;
  let reading: Promise<void> | undefined;
  let isStopped = false;
  const refresh = () => (reading ??= read());
  const timer = setInterval(refresh, interval).unref();
  void refresh();

  return {
    get current() {
      return current;
    },
    refresh,
    stop() {
      isStopped = true;
      clearInterval(timer);
    },
  };

  async function read(): Promise<void> {
    try {
      const state = await readShardMap(query);
      if (isStopped) return;
      current = state.map;
      onRead(state);
    } catch {
      // Keeps the result of the last successful read.
    }
    reading = undefined;
  }
}

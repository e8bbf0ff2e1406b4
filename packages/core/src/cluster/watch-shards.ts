import { type Query, readShardMap, type ShardMap } from './shard-map.ts';

/** Milliseconds after which the shards are read again. */
const maxAge = 15_000;

export interface ShardWatch {
  /** The shards when they were last read. Undefined when there are none, or they are not known yet. */
  readonly current: ShardMap | undefined;
  /** Reads the shards in the background when they were read a while ago. */
  keepFresh(): void;
  /** Reads the shards. The promise is never rejected. */
  refresh(): Promise<void>;
}

interface ShardWatchOptions {
  readonly onRead?: (map: ShardMap | undefined) => void;
  /** See `readShardMap`. */
  readonly onUntested?: (version: string) => void;
  readonly now?: () => number;
}

/**
 * Keeps the map of shards up to date: whoever uses it keeps it fresh, so an idle store reads nothing.
 * An old map does no harm, because the database checks where plants belong.
 */
export function watchShards(
  query: Query,
  { onRead, onUntested, now = () => performance.now() }: ShardWatchOptions = {},
): ShardWatch {
  let current: ShardMap | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;
  const refresh = () => (reading ??= read());

  return {
    get current() {
      return current;
    },
    keepFresh() {
      if (now() - readAt > maxAge) void refresh();
    },
    refresh,
  };

  async function read(): Promise<void> {
    try {
      current = await readShardMap(query, onUntested);
      onRead?.(current);
    } catch {
      // A later attempt may succeed, and the old map is better than none.
    }
    readAt = now();
    reading = undefined;
  }
}

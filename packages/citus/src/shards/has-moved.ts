import { rootMessage } from '@plant-store/core/cluster';

/**
 * Whether an error is the internal error of Citus for plants that move, because it distributes a table or
 * splits a shard.
 */
export function hasMoved(error: unknown): boolean {
  return /^could not find valid entry for shard/.test(rootMessage(error));
}

import type { NewPlant } from '@plant-store/schemas';
import { arrayText } from '../array-text.ts';
import type { NodeAccess } from '../database.ts';
import { callAnywhere, callHere } from './insert-function.ts';
import type { ShardMap } from './shard-map.ts';

/**
 * Inserts plants of one node, with distinct ids, in one statement and one commit. Skips those whose id
 * is taken, and returns the ids that it inserted.
 */
export async function insertOnNode(
  { query, isDirect }: NodeAccess,
  map: ShardMap,
  plants: readonly NewPlant[],
): Promise<bigint[]> {
  const byShard = Map.groupBy(plants, ({ id }) => map.shardOf(id).id);
  // All instances lock shards in the same order, so that they cannot deadlock.
  const shards = [...byShard].sort(([a], [b]) => Number(a) - Number(b));
  const sorted = shards.flatMap(([, ofShard]) => ofShard);
  const { rows } = await query(isDirect ? callHere : callAnywhere, [
    String(sorted[0]?.id),
    `{${shards.map(([id]) => id)}}`,
    `{${shards.map(([, ofShard]) => ofShard.length)}}`,
    `{${sorted.map(({ id }) => id)}}`,
    arrayText(sorted.map(({ name }) => name)),
    arrayText(sorted.map(({ tag }) => tag)),
  ]);
  return rows.map((row) => BigInt((row as [string])[0])); // The ids.
}

/** Inserts no plant on a node. It fails when the node cannot be written. */
export async function probeNode({ query }: NodeAccess, someId: bigint): Promise<void> {
  await query(callAnywhere, [String(someId), '{}', '{}', '{}', '{}', '{}']);
}

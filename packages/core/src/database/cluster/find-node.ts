import type { Database, NodeAccess, StorageNode } from '../database.ts';
import type { ShardWatch } from './watch-shards.ts';

/** A node of a cluster, and the way to it. */
interface FoundNode {
  readonly node: StorageNode;
  /** The same object for each call, until the node has another address. */
  readonly access: NodeAccess;
}

/**
 * Finds the node that stores the plant with an id. Returns undefined on a database that is no cluster,
 * and while the shards are not known. Internal tools may bypass the types, so the id may be anything.
 */
export type FindNode = (id: unknown) => FoundNode | undefined;

export function createFindNode(database: Pick<Database, 'onNode'>, shards: ShardWatch): FindNode {
  const accesses = new WeakMap<StorageNode, NodeAccess>();

  return (id) => {
    const { onNode } = database;
    if (!onNode) return undefined;
    shards.keepFresh();
    const map = shards.current;
    if (!map || !(typeof id === 'bigint' || Number.isSafeInteger(id))) return undefined;
    const shard = map.shardOf(BigInt(id as bigint | number)); // The line above checks it.
    const node = map.nodes.find((each) => each.id === shard.node);
    if (!node) return undefined;
    const access = accesses.get(node) ?? onNode(node, map.clusterId);
    accesses.set(node, access);
    return { node, access };
  };
}

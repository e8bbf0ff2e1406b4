import { EventEmitter } from 'node:events';
import type { NewPlant, Plant } from '@plant-store/schemas';
import type { ShardMap } from '../../database/cluster/shard-map.ts';
import { watchShards } from '../../database/cluster/watch-shards.ts';
import type { Database } from '../../database/database.ts';
import type { CallOptions } from '../deadline.ts';
import { NodeHealth, type NodeState } from './node-health.ts';
import { createNodeTable } from './node-table.ts';
import type { PlantTable } from './plant-table.ts';
import { SendTurn } from './send-turn.ts';
import { type StoreEvents, WriteBatcher } from './write-batcher.ts';

/**
 * Creates plants in batches. On a cluster each batch belongs to one node, and each node has its own
 * queue and connections, so that creates on a node go on while another one is away.
 */
export interface PlantWriter {
  readonly events: EventEmitter<StoreEvents>;
  /** See `PlantStore.create`. */
  create(plant: NewPlant, options?: CallOptions): Promise<Plant>;
  /** See `PlantStore.pending`. */
  pending(): { waiting: number; inFlight: number };
  /** See `PlantStore.nodes`. */
  nodes(): NodeState[];
  /** Finds out which nodes can be written. The promise is never rejected. */
  probeNodes(): Promise<void>;
  /** Accepts no further creates; resolves when all earlier ones are answered. */
  drained(): Promise<void>;
}

/** @param table creates plants of any node */
export function createPlantWriter(database: Database, table: PlantTable): PlantWriter {
  const { maxInFlight } = database;
  const events = new EventEmitter<StoreEvents>();
  const turn = new SendTurn();
  const anyNode = newBatcher(table);
  const byNode = new Map<number, WriteBatcher>();
  const batchers = () => [anyNode, ...byNode.values()];
  const shards = watchShards(database.query);
  const health = new NodeHealth((id) => {
    const node = shards.current?.nodes.find((each) => each.id === id);
    if (node) events.emit('node', health.stateOf(node));
  });
  let isClosing = false;

  return {
    events,
    create: (plant, options) => batcherFor(plant).create(plant, options),
    pending() {
      const pending = batchers().map((batcher) => batcher.pending);
      return {
        waiting: pending.reduce((sum, { waiting }) => sum + waiting, 0),
        inFlight: pending.reduce((sum, { inFlight }) => sum + inFlight, 0),
      };
    },
    nodes: () => health.states(shards.current),
    async probeNodes() {
      const { onNode } = database;
      if (!onNode) return;
      shards.keepFresh();
      const map = shards.current;
      if (map) await health.probe(map.nodes, (node) => onNode(node, map.clusterId));
    },
    async drained() {
      isClosing = true;
      await Promise.all(batchers().map((batcher) => batcher.drained()));
    },
  };

  function batcherFor(plant: NewPlant | null): WriteBatcher {
    const { onNode } = database;
    if (!onNode || isClosing) return anyNode;
    shards.keepFresh();
    const map = shards.current;
    const id: unknown = map && plant?.id; // Internal tools may bypass the types.
    if (!map || !(typeof id === 'bigint' || Number.isSafeInteger(id))) return anyNode;
    const { node } = map.shardOf(BigInt(id as bigint | number));
    return byNode.get(node) ?? openNode(node, map, onNode);
  }

  function openNode(
    id: number,
    { nodes, clusterId }: ShardMap,
    onNode: NonNullable<Database['onNode']>,
  ): WriteBatcher {
    const node = nodes.find((each) => each.id === id);
    if (!node) return anyNode;
    const nodeTable = createNodeTable(onNode(node, clusterId), shards);
    const batcher = newBatcher(health.observed(id, nodeTable));
    byNode.set(id, batcher);
    return batcher;
  }

  function newBatcher(of: PlantTable): WriteBatcher {
    const batcher = new WriteBatcher({ table: of, maxInFlight, turn });
    batcher.events.on('batch', (batch) => events.emit('batch', batch));
    return batcher;
  }
}

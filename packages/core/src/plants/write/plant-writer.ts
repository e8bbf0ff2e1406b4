import { EventEmitter } from 'node:events';
import type { NewPlant, Plant } from '@plant-store/schemas';
import type { FindNode } from '../../database/cluster/find-node.ts';
import type { ShardWatch } from '../../database/cluster/watch-shards.ts';
import type { Database, NodeAccess } from '../../database/database.ts';
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
  /** See `PlantStore.delete`. */
  delete(id: bigint): Promise<boolean>;
  /** See `PlantStore.pending`. */
  pending(): { waiting: number; inFlight: number };
  /** See `PlantStore.nodes`. */
  nodes(): NodeState[];
  /** Finds out which nodes can be written. The promise is never rejected. */
  probeNodes(): Promise<void>;
  /** Accepts no further creates; resolves when all earlier ones are answered. */
  drained(): Promise<void>;
}

interface PlantWriterOptions {
  readonly database: Database;
  /** The statements for plants of any node. */
  readonly table: PlantTable;
  readonly shards: ShardWatch;
  readonly findNode: FindNode;
}

export function createPlantWriter({
  database,
  table,
  shards,
  findNode,
}: PlantWriterOptions): PlantWriter {
  const { maxInFlight } = database;
  const events = new EventEmitter<StoreEvents>();
  const turn = new SendTurn();
  const anyNode = newBatcher(table);
  const byNode = new Map<NodeAccess, { table: PlantTable; batcher: WriteBatcher }>();
  const batchers = () => [anyNode, ...[...byNode.values()].map(({ batcher }) => batcher)];
  const nodeOf = (id: number) => shards.current?.nodes.find((each) => each.id === id);
  const health: NodeHealth = new NodeHealth({
    onChange(id) {
      const node = nodeOf(id);
      if (node) events.emit('node', health.stateOf(node));
    },
    onDetour(id, error) {
      const node = nodeOf(id);
      if (node) events.emit('detour', { address: node.address, error });
    },
  });
  let isClosing = false;

  return {
    events,
    create: (plant, options) => batcherFor(plant).create(plant, options),
    delete: (id) => (onNodeOf(id)?.table ?? table).delete(id),
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
    return (isClosing ? undefined : onNodeOf(plant?.id)?.batcher) ?? anyNode;
  }

  /** The statements and the queue of the node that stores the plant with this id. */
  function onNodeOf(id: unknown) {
    const found = findNode(id);
    if (!found) return undefined;
    const { node, access } = found;
    const known = byNode.get(access);
    if (known) return known;
    const nodeTable = createNodeTable(access, shards);
    const batcher = newBatcher(health.observed(node.id, nodeTable, access));
    const opened = { table: nodeTable, batcher };
    byNode.set(access, opened);
    return opened;
  }

  function newBatcher(of: PlantTable): WriteBatcher {
    const batcher = new WriteBatcher({ table: of, maxInFlight, turn });
    batcher.events.on('batch', (batch) => events.emit('batch', batch));
    return batcher;
  }
}

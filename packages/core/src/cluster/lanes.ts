import type { EventEmitter } from 'node:events';
import type { Database, Rows, Values } from '../database/database.ts';
import { orUnavailable } from '../database/database-error.ts';
import { deadlineIn, defaultTimeout } from '../database/deadline.ts';
import { type CountUpTo, createCountUpTo } from '../plants/count-up-to.ts';
import type { CommittedBatch } from '../plants/creates.ts';
import { createLane, type Lane, type Lanes } from '../plants/lane.ts';
import { createCountOnShards } from './count-on-shards.ts';
import { type NodeAccess, nodeShares, openNodeAccess } from './node-access.ts';
import { type NodeDetour, NodeHealth, type NodeState } from './node-health.ts';
import { createNodeStatements, createOrdinaryStatements } from './node-statements.ts';
import type { ShardMap, ShardState, StorageNode } from './shard-map.ts';
import { watchShards } from './watch-shards.ts';

/** What happens to the nodes of a cluster. */
export type ClusterEvents = { node: [NodeState]; detour: [NodeDetour]; warning: [string] };

/** The lanes of a store: one, or on a cluster also one for each node that stores plants. */
export interface StoreLanes extends Lanes {
  readonly all: readonly Lane[];
  /** See `PlantStore.countUpTo`. */
  readonly countUpTo: CountUpTo;
  /** See `PlantStore.nodes`. */
  nodes(): NodeState[];
  /** See `PlantStore.ready`. Also finds out which nodes can be written. */
  ready(): Promise<void>;
  close(): Promise<void>;
}

interface LanesOptions {
  readonly database: Omit<Database, 'bulk' | 'close'>;
  readonly events: Pick<EventEmitter<ClusterEvents>, 'emit'>;
  readonly onCommit: (committed: CommittedBatch) => void;
}

interface NodeLane {
  readonly lane: Lane;
  readonly access: NodeAccess;
}

/** On a cluster, all plants go through the main lane while the shards are not known. */
export function createLanes({ database, events, onCommit }: LanesOptions): StoreLanes {
  const { nodes } = database;
  const statements = createOrdinaryStatements(database.run, () => void shards?.refresh());
  const main = createLane({ ...database, statements, onCommit });
  const countUpTo = createCountUpTo(database.run);
  let hasWarned = false;
  const countOnShards = createCountOnShards(database.run);
  const byKey = new Map<string, NodeLane>();
  const byNode = new WeakMap<StorageNode, NodeLane>();
  const shards = nodes && watchShards(query, onRead);
  const nodeOf = (id: number) => shards?.current?.nodes.find((each) => each.id === id);
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

  return {
    laneOf(id) {
      const map = shards?.current;
      if (!map || !(typeof id === 'bigint' || Number.isSafeInteger(id))) return main;
      const node = nodeOf(map.shardOf(BigInt(id as bigint | number)).node); // The line above checks it.
      return node ? laneOfNode(node, map).lane : main;
    },
    get all() {
      return [main, ...[...byKey.values()].map(({ lane }) => lane)];
    },
    countUpTo(...count) {
      return shards?.current ? countOnShards(...count) : countUpTo(...count);
    },
    nodes: () => health.states(shards?.current),
    async ready() {
      await Promise.all([
        orUnavailable(statements.ready(deadlineIn(defaultTimeout))),
        probeNodes(),
      ]);
    },
    async close() {
      shards?.stop();
      await Promise.all([...byKey.values()].map(({ access }) => access.close()));
    },
  };

  function query(text: string, values: Values): Promise<Rows> {
    const options = { share: 'lookUps', deadline: deadlineIn(defaultTimeout) } as const;
    return database.run(text, values, { ...options, isRepeatable: true });
  }

  async function probeNodes(): Promise<void> {
    const map = shards?.current;
    if (map) await health.probe(map.nodes, (node) => laneOfNode(node, map).access);
  }

  function laneOfNode(node: StorageNode, { clusterId }: ShardMap): NodeLane {
    const key = keyOf(node, clusterId);
    const known = byNode.get(node) ?? byKey.get(key) ?? open(node, clusterId);
    byNode.set(node, known);
    byKey.set(key, known);
    return known;
  }

  function open(node: StorageNode, clusterId: string): NodeLane {
    if (!nodes || !shards) throw new Error('this database is no cluster');
    const access = openNodeAccess({ ...node, clusterId }, nodes);
    const statements = createNodeStatements({ run: access.run, access }, shards);
    const lane = createLane({
      statements: health.observed(node.id, statements, access),
      maxInserts: nodeShares.creates,
      maxLookUps: nodeShares.lookUps,
      onClockMoved: access.onClockMoved,
      onCommit,
    });
    return { lane, access };
  }

  function onRead({ isCluster, untestedVersion, map }: ShardState): void {
    if (isCluster) nodes?.noticeCluster();
    if (untestedVersion) warnOnce(untestedVersion);
    if (map) closeOthers(map);
  }

  function warnOnce(version: string): void {
    if (hasWarned) return;
    hasWarned = true;
    events.emit('warning', `${untested} ${version}: use 13.2, or a store that knows this version`);
  }

  /** Closes the connections to nodes that have left the cluster, or have another address now. */
  function closeOthers(map: ShardMap): void {
    const keys = new Set(map.nodes.map((node) => keyOf(node, map.clusterId)));
    for (const [key, { lane, access }] of byKey) {
      if (keys.has(key)) continue;
      byKey.delete(key);
      void lane.drained().then(() => access.close());
    }
  }
}

const untested =
  'the store sends ordinary INSERTs to this cluster, which cost more, because it was not tested on Citus';

function keyOf({ id, address }: StorageNode, clusterId: string): string {
  return `${clusterId} ${id} ${address}`;
}

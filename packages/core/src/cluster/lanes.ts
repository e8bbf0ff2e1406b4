import type { EventEmitter } from 'node:events';
import { type Database, lateCommit, type Rows, type Values } from '../database/database.ts';
import { orUnavailable } from '../database/database-error.ts';
import { deadlineIn, defaultTimeout } from '../database/deadline.ts';
import { type CountUpTo, createCountUpTo } from '../plants/count-up-to.ts';
import type { CommittedBatch } from '../plants/creates.ts';
import { createLane, type Lane, type Lanes } from '../plants/lane.ts';
import { createCountOnShards, createOrdinaryStatements } from './citus-statements.ts';
import { type NodeAccess, nodeShares, openNodeAccess } from './node-access.ts';
import { NodeHealth, type NodeReroute, type NodeState } from './node-health.ts';
import { createNodeStatements } from './node-statements.ts';
import { NodeTurns } from './node-turns.ts';
import type { ShardMap, ShardState, StorageNode } from './shard-map.ts';
import { watchShards } from './watch-shards.ts';

/** The events of a cluster; see `StoreEvents`. */
export type ClusterEvents = { node: [NodeState]; rerouted: [NodeReroute]; warning: [string] };

/** The lanes of a store: one, or on a cluster also one for each node that stores plants. */
export interface StoreLanes extends Lanes {
  readonly all: readonly Lane[];
  /** See `PlantStore.countUpTo`. */
  readonly countUpTo: CountUpTo;
  /** See `Database`. */
  unsettled(): number;
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

/** A lane to a node that stores plants. */
interface NodeLane {
  readonly key: string;
  readonly lane: Lane;
  readonly access: NodeAccess;
  readonly health: NodeHealth;
}

/** On a cluster, all plants go through the main lane while the shards are not known. */
export function createLanes({ database, events, onCommit }: LanesOptions): StoreLanes {
  const { nodes: connections } = database;
  const statements = createOrdinaryStatements(database.run, () => void shards?.refresh());
  const main = createLane({ ...database, statements, onCommit });
  const countUpTo = createCountUpTo(database.run);
  const countOnShards = createCountOnShards(database.run);
  const shards = connections && watchShards(query, onRead);
  let byNode: ReadonlyMap<number, NodeLane> = new Map();
  const turn = new NodeTurns();
  let hasWarned = false;

  return {
    laneOf(id) {
      const map = shards?.current;
      if (!map || !(typeof id === 'bigint' || Number.isSafeInteger(id))) return main;
      const { node } = map.shardOf(BigInt(id as bigint | number)); // The line above checks it.
      return byNode.get(node)?.lane ?? main;
    },
    get all() {
      return [main, ...[...byNode.values()].map(({ lane }) => lane)];
    },
    countUpTo: (...count) => (shards?.current ? countOnShards(...count) : countUpTo(...count)),
    unsettled() {
      const nodes = [...byNode.values()].map(({ access }) => access.unsettled());
      return nodes.reduce((sum, each) => sum + each, database.unsettled());
    },
    nodes: () => nodes().map(stateOf),
    async ready() {
      const probes = nodes().map(({ id, someId }) => byNode.get(id)?.health.probe(someId));
      const ready = statements.ready(deadlineIn(defaultTimeout));
      await Promise.all([orUnavailable(ready), ...probes]);
      if (!shards?.current) await shards?.refresh();
    },
    async close() {
      shards?.stop();
      await Promise.all([...byNode.values()].map(({ access }) => access.close()));
    },
  };

  function query(text: string, values: Values): Promise<Rows> {
    const options = { share: 'lookUps', deadline: deadlineIn(defaultTimeout) } as const;
    return database.run(text, values, { ...options, isRepeatable: true });
  }

  function nodes(): readonly StorageNode[] {
    return shards?.current?.nodes ?? [];
  }

  function stateOf({ id, address, share }: StorageNode): NodeState {
    return { address, share, isWritable: byNode.get(id)?.health.isWritable ?? true };
  }

  function onRead({ isCluster, untestedVersion, map }: ShardState): void {
    if (isCluster) connections?.noticeCluster();
    if (untestedVersion && !hasWarned) {
      hasWarned = true;
      const advice = 'use 13.2, or a store that knows this version';
      events.emit('warning', `${untested} ${untestedVersion}: ${advice}`);
    }
    if (map) useNodes(map);
  }

  /** Opens lanes to new nodes, and closes those to nodes that have left the cluster or moved. */
  function useNodes(map: ShardMap): void {
    const before = byNode;
    byNode = new Map(
      map.nodes.map((node) => {
        const key = `${map.clusterId} ${node.id} ${node.address}`;
        const known = before.get(node.id);
        return [node.id, known?.key === key ? known : open(key, node, map.clusterId)];
      }),
    );
    for (const [id, known] of before) {
      if (byNode.get(id) !== known) void known.lane.drained().then(() => known.access.close());
    }
  }

  function open(key: string, { id, address }: StorageNode, clusterId: string): NodeLane {
    if (!connections || !shards) throw new Error('this database is not a cluster');
    const onUnsettled = () => events.emit('warning', `on ${address}: ${lateCommit}`);
    const node = { id, address, clusterId };
    const access = openNodeAccess(node, { ...connections, onUnsettled });
    /** Undefined when the node has left the cluster. Then no event names it. */
    const current = () => nodes().find((node) => node.id === id);
    const health = new NodeHealth({
      access,
      onChange() {
        const node = current();
        if (node) events.emit('node', stateOf(node));
      },
      onReroute(error) {
        if (current()) events.emit('rerouted', { address, error });
      },
    });
    const lane = createLane({
      statements: health.observed(createNodeStatements(access, shards)),
      maxInserts: nodeShares.creates,
      maxLookUps: nodeShares.lookUps,
      mayCommit: access.mayCommit,
      onClockMoved: access.onClockMoved,
      turn,
      onCommit,
    });
    return { key, lane, access, health };
  }
}

const untested =
  'the store sends ordinary INSERTs to this cluster, which cost more, because it was not tested on Citus';

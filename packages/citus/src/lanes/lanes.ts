import {
  type ClusterStore,
  type ClusterWatch,
  createLane,
  type Lane,
  lateCommit,
  type NodeState,
  type Query,
  type StoreLanes,
} from '@plant-store/core/cluster';
import type { ShardMap, ShardState, StorageNode } from '../shards/shard-map.ts';
import { watchShards } from '../shards/watch-shards.ts';
import { openCentral } from './central.ts';
import { createCountOnShards, createOrdinaryStatements } from './citus-statements.ts';
import { type NodeAccess, nodeShares, openNodeAccess } from './node-access.ts';
import { NodeHealth } from './node-health.ts';
import { createNodeStatements } from './node-statements.ts';
import { NodeTurns } from './node-turns.ts';
import { createNodeFeed } from './read-changes.ts';

interface NodeLane {
  readonly key: string;
  readonly lane: Lane;
  readonly access: NodeAccess;
  readonly health: NodeHealth;
}

/**
 * Watches the shards of the plants. Until the store knows the shards, all plants go through the node in the
 * URL. Afterwards, the store uses a lane for each node.
 */
export function watchLanes(store: ClusterStore): ClusterWatch {
  const { database, nodes: connections, events, onCommit, main, use } = store;
  const statements = createOrdinaryStatements(database);
  const ordinary = createLane({ ...database, statements, onCommit });
  const query: Query = (text, values = []) => database.read(text, values, { share: 'lookUps' });
  const countOnShards = createCountOnShards(database);
  const shards = watchShards(query, onRead);
  let byNode: ReadonlyMap<number, NodeLane> = new Map();
  const turn = new NodeTurns();
  const central = openCentral(store);
  let hasWarned = false;

  const lanes: StoreLanes = {
    laneOf(id) {
      const map = shards.current;
      if (!map || !(typeof id === 'bigint' || Number.isSafeInteger(id))) return ordinary;
      // The cast is safe, because `id` is an integer here.
      const { node } = map.shardOf(BigInt(id as bigint | number));
      return byNode.get(node)?.lane ?? ordinary;
    },
    get all() {
      return [...main.all, ordinary, ...[...byNode.values()].map(({ lane }) => lane)];
    },
    countUpTo: (...count) => (shards.current ? countOnShards : main.countUpTo)(...count),
    pools: () => [...main.pools(), ...[...byNode.values()].map(({ access }) => access.pool())],
    nodes: () => nodes().map(stateOf),
    async ready() {
      const probes = nodes().map(({ id, someId }) => byNode.get(id)?.health.probe(someId));
      await Promise.all([main.ready(), ...probes]);
      if (!shards.current) await shards.refresh();
    },
  };

  return {
    central,
    ...createNodeFeed({
      shards,
      isTested: () => !hasWarned,
      accessTo: ({ id }) => byNode.get(id)?.access,
    }),
    async close() {
      shards.stop();
      const all = [central, ...[...byNode.values()].map(({ access }) => access)];
      await Promise.all(all.map((each) => each.close()));
    },
  };

  function nodes(): readonly StorageNode[] {
    return shards.current?.nodes ?? [];
  }

  function stateOf({ id, address, share }: StorageNode): NodeState {
    return { address, share, isWritable: byNode.get(id)?.health.isWritable ?? true };
  }

  function onRead({ isCluster, untestedVersion, map }: ShardState): void {
    if (isCluster) {
      connections.noticeCluster();
      use(lanes);
    }
    if (untestedVersion && !hasWarned) {
      hasWarned = true;
      const advice = 'use 13.2, or a store that knows this version';
      events.emit('warning', `${untested} ${untestedVersion}: ${advice}`);
    }
    if (map) useNodes(map);
  }

  /** Opens lanes to new nodes. Closes the lanes of nodes that have left the cluster or have a new address. */
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
      if (byNode.get(id) !== known) void closeLane(known);
    }
  }

  /** Closes the connections after the last call, so that no call fails because a node leaves the cluster. */
  async function closeLane({ lane, access }: NodeLane): Promise<void> {
    await Promise.all([lane.drained(), lane.settled()]);
    await access.close();
  }

  function open(key: string, { id, address }: StorageNode, clusterId: string): NodeLane {
    const onUnsettled = () => events.emit('warning', `on ${address}: ${lateCommit}`);
    const node = { id, address, clusterId };
    const access = openNodeAccess(node, { ...connections, onUnsettled });
    /** Undefined when the node has left the cluster, so that the store emits no events for the node. */
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
      shares: nodeShares,
      mayCommit: access.mayCommit,
      onClockMoved: access.onClockMoved,
      turn,
      onCommit,
    });
    return { key, lane, access, health };
  }
}

const untested =
  'the store sends ordinary INSERTs, which cost more, because the store was not tested on Citus';

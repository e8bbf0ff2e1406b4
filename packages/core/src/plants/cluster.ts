import type { EventEmitter } from 'node:events';
import type { ClusterSessions, Database, NodeConnections, Run } from '../database/database.ts';
import type { DatabaseOptions } from '../database/open-database.ts';
import type { CountUpTo } from './count-up-to.ts';
import type { CommittedBatch } from './creates.ts';
import type { Lane, Lanes } from './lane.ts';
import type { PlantWrites } from './statements.ts';

/** A kind of database with several nodes, such as `citus` of @plant-store/citus. */
export interface Cluster extends ClusterSessions {
  /** The writes to send instead after an error which says that plants move to nodes. Nothing is written then. */
  writesAfter(error: unknown, run: Run): Promise<PlantWrites | undefined>;
  /**
   * Watches whether the plants are distributed over nodes, and then calls `use`. Until then, and without a
   * cluster, all creates go through `main`.
   */
  watch(store: ClusterStore): Promise<ClusterWatch>;
}

/** Where a store is. With `cluster`, a Postgres may become a cluster. */
export type StoreOptions = DatabaseOptions<Cluster>;

/** What a cluster uses of a store. */
export interface ClusterStore {
  readonly database: Omit<Database, 'bulk' | 'close'>;
  readonly nodes: NodeConnections;
  readonly events: Pick<EventEmitter<ClusterEvents>, 'emit'>;
  readonly onCommit: (committed: CommittedBatch) => void;
  readonly main: StoreLanes;
  readonly use: (lanes: StoreLanes) => void;
}

/** The lanes of a store: one, or on a cluster also those of its nodes. */
export interface StoreLanes extends Lanes {
  readonly all: readonly Lane[];
  /** See `PlantStore.countUpTo`. */
  readonly countUpTo: CountUpTo;
  /** See `Database`. */
  unsettled(): number;
  /** See `PlantStore.nodes`. */
  nodes(): NodeState[];
  /** See `PlantStore.ready`. */
  ready(): Promise<void>;
}

export interface ClusterWatch {
  /** Stops, and closes the connections to the nodes. */
  close(): Promise<void>;
}

/** The events of a cluster; see `StoreEvents`. */
export type ClusterEvents = { node: [NodeState]; rerouted: [NodeReroute]; warning: [string] };

/** A node of a cluster, and whether its plants can be written. */
export interface NodeState {
  /** Its host and port, as the cluster knows them. */
  readonly address: string;
  /** The part of all ids that it stores, from 0 to 1. */
  readonly share: number;
  readonly isWritable: boolean;
}

/** Says that creates of a node of a cluster begin or stop to go through the node that the URL names. */
export interface NodeReroute {
  /** The host and port of the node, as the cluster knows them. */
  readonly address: string;
  /** Why this process cannot reach the node itself; undefined when it can again. */
  readonly error: unknown;
}

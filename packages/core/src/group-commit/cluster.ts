import type { EventEmitter } from 'node:events';
import type { ReadChanges } from '../changes/read-changes.ts';
import type {
  ClusterSessions,
  Database,
  NodeConnections,
  PoolState,
} from '../database/database.ts';
import type { Verbs } from '../database/verbs.ts';
import type { DatabaseOptions } from '../open-database.ts';
import type { CountUpTo } from '../plants/plant-reader.ts';
import type { CommittedBatch } from './creates.ts';
import type { Lane } from './lane.ts';

/** A kind of database with several nodes, such as `citus` of @plant-store/citus. */
export interface Cluster extends ClusterSessions {
  /**
   * Calls `store.use` when the plants are distributed. Until the plants are distributed, all creates go
   * through `store.main`.
   */
  watch(store: ClusterStore): Promise<ClusterWatch>;
}

/**
 * The location of a store. If `cluster` is set, the database may be a cluster, or may become a cluster later.
 */
export type StoreOptions = DatabaseOptions<Cluster>;

/** The parts of a store that the code for clusters uses. */
export interface ClusterStore {
  readonly database: Omit<Database, 'copyPlants' | 'openCopies' | 'close'>;
  readonly nodes: NodeConnections;
  readonly events: Pick<EventEmitter<ClusterEvents>, 'emit'>;
  readonly onCommit: (committed: CommittedBatch) => void;
  readonly main: StoreLanes;
  readonly use: (lanes: StoreLanes) => void;
}

/** The lanes of a store. A single Postgres has one lane. A cluster has an additional lane for each node. */
export interface StoreLanes {
  /** Returns the lane for an id. Internal tools may bypass the types, so the id may have any type. */
  laneOf(id: unknown): Lane;
  readonly all: readonly Lane[];
  /** See `PlantStore.countUpTo`. */
  readonly countUpTo: CountUpTo;
  /** See `Database`. */
  pools(): PoolState[];
  /** See `PlantStore.nodes`. */
  nodes(): NodeState[];
  /** See `PlantStore.ready`. */
  ready(): Promise<void>;
}

export interface ClusterWatch {
  /** Runs the statements for the tables that only one node has, such as the table of webhooks. */
  readonly central: Pick<Verbs, 'write'>;
  /** Reads the changes of all nodes. */
  readonly readChanges: ReadChanges;
  /** See `PlantStore.forgetDeletions`. Returns undefined when the plants are not distributed. */
  forgetDeletions(days: number): Promise<number | undefined>;
  /** Stops the watch, and closes the connections to the nodes. */
  close(): Promise<void>;
}

/** The events of a cluster; see `StoreEvents`. */
export type ClusterEvents = { node: [NodeState]; rerouted: [NodeReroute]; warning: [string] };

/** A node of a cluster. `isWritable` says whether the plants of the node can be written. */
export interface NodeState {
  /** The host and port of the node, as the cluster knows them. */
  readonly address: string;
  /** The fraction of all ids that the node stores, from 0 to 1. */
  readonly share: number;
  readonly isWritable: boolean;
}

/**
 * A new route for the creates of a node. If `error` is set, this process sends the creates through the node
 * in the URL. If `error` is undefined, this process sends the creates directly to their node.
 */
export interface NodeReroute {
  /** The host and port of the node, as the cluster knows them. */
  readonly address: string;
  /**
   * The error when this process cannot connect directly to the node. Undefined when this process can connect.
   */
  readonly error: unknown;
}

import type { FaultProxy } from '@plant-store/test-setup';
import type { PlantsDatabase } from '../../faults/plants-database.ts';

/** A node of a cluster. The other nodes and the instances reach the node through `network`. */
export interface ClusterNode {
  /** The promotion of a standby replaces the database and the network. */
  database: PlantsDatabase;
  network: FaultProxy;
}

export interface ClusterNodes {
  readonly coordinator: ClusterNode;
  readonly workers: readonly [ClusterNode, ClusterNode, ClusterNode];
  /** A server that faults add to the cluster, and remove from the cluster. */
  readonly spare: ClusterNode;
}

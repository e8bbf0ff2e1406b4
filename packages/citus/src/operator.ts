/** The exports for an operator's tools, such as `plant-store distribute` and `doctor`. */
export type { Instance } from './operator/blind-instances.ts';
export { ClusterError } from './operator/check-nodes.ts';
export type { ClusterState } from './operator/cluster-state.ts';
export type {
  DistributeOptions,
  DistributeResult,
  Distribution,
  DistributionStep,
} from './operator/distribute.ts';
export { distributePlants } from './operator/distribute-plants.ts';
export { inspectCluster } from './operator/inspect-cluster.ts';
export { inspectDistribution, type TableDistribution } from './operator/table-distribution.ts';

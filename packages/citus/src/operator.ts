/** The exports for an operator's tools, such as `plant-store distribute` and `doctor`. */
export type { Instance } from './operator/blind-instances.ts';
export { ClusterError } from './operator/check-nodes.ts';
export type {
  DistributeOptions,
  DistributeResult,
  Distribution,
  DistributionStep,
} from './operator/distribute.ts';
export { distributePlants } from './operator/distribute-plants.ts';
export {
  type ClusterState,
  inspectCluster,
  type TableDistribution,
} from './operator/inspect-cluster.ts';

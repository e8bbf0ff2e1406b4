import type { Query, StorageNode } from '../database.ts';
import { withTimeout } from '../timeout.ts';
import { type ClusterRole, clusterRole, type Run } from './cluster-role.ts';
import { missingSteps } from './distribute.ts';
import { countOnNode } from './insert-function.ts';
import { readShardMap } from './shard-map.ts';

/** A Citus cluster, as one of its nodes sees it. */
export interface ClusterState {
  readonly role: ClusterRole;
  /** What `distributePlants` would do; always empty on a worker. */
  readonly missing: readonly string[];
  /** The nodes that store plants; empty while the plants are not distributed, or not so that the store can insert by node. */
  readonly nodes: readonly NodeContent[];
}

interface NodeContent {
  /** Its host and port, as the cluster knows them. */
  readonly address: string;
  readonly shards: number;
  /** About how many plants it has; undefined when it did not answer. */
  readonly plants: number | undefined;
}

/** Milliseconds for the answer of a node. */
const nodeTimeout = 2_000;

interface InspectOptions {
  readonly run: Run;
  /** Runs a statement on a connection of its own, because a node may not answer. */
  readonly query: Query;
}

/** Reads the state of a cluster; undefined when the database is no part of one. */
export async function inspectCluster({
  run,
  query,
}: InspectOptions): Promise<ClusterState | undefined> {
  const role = await clusterRole(run);
  if (!role) return undefined;
  const steps = role === 'coordinator' ? await missingSteps(run, 1) : [];
  const map = await readShardMap(query);
  return {
    role,
    missing: steps.map(({ description }) => description),
    nodes: await Promise.all((map?.nodes ?? []).map((node) => contentOf(node, query))),
  };
}

async function contentOf(
  { address, shards, someId }: StorageNode,
  query: Query,
): Promise<NodeContent> {
  const counted = withTimeout(query(countOnNode, [String(someId)]), nodeTimeout).then(
    ({ rows }) => Number((rows as [string][])[0]?.[0]),
    () => undefined,
  );
  return { address, shards, plants: await counted };
}

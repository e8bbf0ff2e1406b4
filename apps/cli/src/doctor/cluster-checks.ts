import {
  type ClusterState,
  inspectCluster,
  type TableDistribution,
} from '@plant-store/citus/operator';
import { nameInstance } from '../command-line/database-errors.ts';
import { messageOf } from '../command-line/errors.ts';
import { feedChecks } from './feed-checks.ts';
import type { Finding } from './finding.ts';

const check = 'cluster';

/** Checks the Citus cluster to which a Postgres belongs. Outside a cluster, returns no findings. */
export async function clusterChecks(databaseUrl: string): Promise<Finding[]> {
  try {
    const state = await inspectCluster(databaseUrl);
    if (!state) return [];
    return [...distribution(state.tables), ...feeds(state), ...webhooks(state), ...findings(state)];
  } catch (error) {
    const message = `the cluster cannot be read (${messageOf(error)}): try again`;
    return [{ check, level: 'problem', message }];
  }
}

function findings({
  missing,
  nodes,
  downWithoutPlants,
  blindInstances,
  untestedVersion,
}: ClusterState): Finding[] {
  const todo = missing.length > 0 ? missing.join('; ') : 'the store cannot insert by node';
  const notReady: Finding = {
    check,
    level: 'warning',
    message: `not ready (${todo}): run plant-store distribute on the coordinator`,
  };
  if (untestedVersion) {
    const message =
      `the store was not tested on Citus ${untestedVersion}, so instances send ordinary INSERTs, which cost ` +
      'more: use 13.2, or a store that knows this version';
    return [{ check, level: 'warning', message }, ...(missing.length > 0 ? [notReady] : [])];
  }
  if (nodes.length === 0) return [notReady];
  const shards = nodes.reduce((sum, node) => sum + node.shards, 0);
  return [
    ...(missing.length > 0 ? [notReady] : []),
    { check, level: 'ok', message: `${shards} shards on ${nodes.length} nodes` },
    ...nodes.map((node): Finding => {
      const content = `${node.address} has ${node.shards} shards`;
      return node.plants === undefined
        ? { check, level: 'problem', message: `${content}, and does not respond: start that node` }
        : { check, level: 'ok', message: `${content}, about ${node.plants} plants` };
    }),
    ...nodes.flatMap(({ address, plants, directError }): Finding[] => {
      if (plants === undefined || directError === undefined) return [];
      const message =
        `this machine cannot reach ${address} itself (${messageOf(directError)}): an instance here sends creates through ` +
        'the node in its URL, which costs CPU time there; check the address in pg_dist_node, and name ' +
        'resolution and firewalls here';
      return [{ check, level: 'warning', message }];
    }),
    ...blindInstances.map((instance): Finding => {
      const message =
        `${nameInstance(instance)}, has not noticed the cluster: wait 30 s and run doctor again, then ` +
        'restart that instance';
      return { check, level: 'warning', message };
    }),
    ...downWithoutPlants.map((address): Finding => {
      const message = `${address} has no shards, and does not respond: start that node`;
      return { check, level: 'problem', message };
    }),
  ];
}

function webhooks({ role }: ClusterState): Finding[] {
  if (role === 'coordinator') return [];
  const message = 'only the coordinator knows the webhooks: run doctor with its URL to check them';
  return [{ check: 'webhooks', level: 'ok', message }];
}

/** Checks how the cluster distributes the plants and the access tokens. */
export function distribution(tables: readonly TableDistribution[]): Finding[] {
  return tables.flatMap(({ table, kind, column, shards }): Finding[] => {
    const check = 'distribution';
    if (table === 'access_tokens') return [{ check, ...copies(table, kind) }];
    if (table !== 'plants') return [];
    if (kind === 'hash' && column === 'id') {
      return [{ check, level: 'ok', message: `plants is distributed by id, in ${shards} shards` }];
    }
    if (kind === 'local') {
      const message =
        'plants is on the coordinator only: run plant-store distribute to use the workers';
      return [{ check, level: 'warning', message }];
    }
    const how = kind === 'reference' ? 'copied to each node' : `distributed by ${column ?? kind}`;
    // Citus loses inserts through other nodes during `undistribute_table`, so all instances must stop first.
    const message =
      `plants is ${how}: stop all instances, run SELECT undistribute_table('plants'), and then ` +
      'plant-store distribute';
    return [{ check, level: 'problem', message }];
  });
}

/** Checks the table of access tokens. Each node of a cluster should have a copy of this table. */
function copies(table: string, kind: TableDistribution['kind']): Omit<Finding, 'check'> {
  if (kind === 'local') return { level: 'ok', message: `${table} is on the coordinator` };
  if (kind === 'reference') return { level: 'ok', message: `each node has a copy of ${table}` };
  const message =
    `Citus splits ${table} over the nodes: run SELECT undistribute_table('${table}'), and then ` +
    'plant-store distribute';
  return { level: 'warning', message };
}

/** Checks the feed of each node. A node that is down has no finding here, because `findings` names it. */
function feeds({ nodes }: ClusterState): Finding[] {
  return nodes.flatMap(({ address, plants, feed }): Finding[] => {
    const check = 'feed';
    if (feed?.isRestored) {
      const message = `on ${address}, the feed of changes begins when an instance reads it: start an instance`;
      return [{ check, level: 'warning', message }];
    }
    if (feed) {
      const found = feedChecks({ feed });
      return found.map((each) => ({ ...each, message: `on ${address}, ${each.message}` }));
    }
    if (plants === undefined) return [];
    const message = `this machine cannot read the state of the feed on ${address}: run doctor on another one`;
    return [{ check, level: 'warning', message }];
  });
}

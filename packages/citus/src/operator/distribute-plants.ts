import { setTimeout } from 'node:timers/promises';
import {
  type Connection,
  createConnectToPrimary,
  migrationTimeout,
  rootMessage,
  send,
} from '@plant-store/core/cluster';
import { settings } from '../shards/cluster-role.ts';
import { readCopied } from './ask-nodes.ts';
import { type Instance, readBlindInstances } from './blind-instances.ts';
import { ClusterError, checkNodes } from './check-nodes.ts';
import {
  type DistributeOptions,
  type DistributeResult,
  type DistributionStep,
  planTables,
} from './distribute.ts';

/** A move of billions of plants takes hours. The longest time limit of Postgres is 24 days. */
const limits = {
  timeout: 2 ** 31 - 1,
  lockTimeout: migrationTimeout,
  // The functions and the feed need each shard on exactly one node.
  settings: { ...settings, 'citus.shard_replication_factor': '1' },
};

/** The time between two reads of the state of the other sessions, in milliseconds. */
const interval = 1_000;

/**
 * Distributes the tables of the store and their rows over the nodes of a Citus cluster. Plants are
 * distributed by id, and each node gets a copy of the access tokens and of the list of migrations. Creates
 * continue, unless `isBlocking` is set. After an error, call this function again for the missing steps.
 *
 * @throws ClusterError when the cluster or the tables are not ready to be distributed
 */
export async function distributePlants(options: DistributeOptions): Promise<DistributeResult> {
  const connect = createConnectToPrimary(options.databaseUrl, limits);
  const connection = await connect();
  try {
    const nodes = await checkNodes(connection.query);
    const missing = { nodes, ...(await planTables(connection.query, options)) };
    const isDone = missing.steps.length === 0 || (await options.confirm(missing));
    if (!isDone) return { ...missing, isDone, blindInstances: [] };
    for (const step of missing.steps) await takeStep(step);
    return { ...missing, isDone, blindInstances: await waitForInstances(connection, options) };
  } finally {
    await connection.close();
  }

  async function takeStep({ statements, move }: DistributionStep): Promise<void> {
    const observer = move && (await connect());
    if (observer) {
      // If the report fails, the step continues.
      reportCopied(observer, (copied) => options.onCopied?.(copied, move.plants)).catch(() => {});
    }
    try {
      for (const statement of statements) await send(connection.query, statement);
    } catch (error) {
      throw needsOutputPlugin(error) ? new ClusterError(outputPlugin, { cause: error }) : error;
    } finally {
      await observer?.close();
    }
  }
}

/** Reports every second how many plants the nodes have received, until the connection is closed. */
async function reportCopied(
  observer: Connection,
  onCopied: (copied: number) => void,
): Promise<never> {
  let copied = 0;
  for (;;) {
    await setTimeout(interval, undefined, { ref: false });
    // `readCopied` counts only running COPY statements, so its result falls when a COPY ends.
    copied = Math.max(copied, await readCopied(observer.query));
    if (copied > 0) onCopied(copied);
  }
}

/**
 * Whether the setting `output_plugin_libraries` does not contain Citus. A Postgres that has this setting,
 * such as 15.20, loads output plugins only from the libraries in the setting.
 */
function needsOutputPlugin(error: unknown): boolean {
  return rootMessage(error).includes('may not be used as an output plugin');
}

const outputPlugin =
  'to distribute plants while creates go on, Citus needs its output plugin: add citus to ' +
  'output_plugin_libraries on the coordinator and reload its settings, then run the same command again; ' +
  'or add --blocking, and creates and deletes wait';

async function waitForInstances(
  connection: Connection,
  { onWait, patience = 0 }: DistributeOptions,
): Promise<Instance[]> {
  const read = () => readBlindInstances(connection.query);
  const until = performance.now() + patience;
  let blind = await read();
  if (blind.length > 0 && patience > 0) onWait?.(blind);
  while (blind.length > 0 && performance.now() < until) {
    await setTimeout(interval);
    blind = await read();
  }
  return blind;
}

import { EventEmitter } from 'node:events';
import { noFeedOnCluster } from './changes/feed-errors.ts';
import { createPlantFeed, type OpenPlantFeed } from './changes/plant-feed.ts';
import type { ReadChanges } from './changes/read-changes.ts';
import type { Database, NodeConnections, OpenOptions } from './database/database.ts';
import type { Cluster, ClusterEvents, ClusterWatch, StoreOptions } from './group-commit/cluster.ts';
import { createLookUps } from './group-commit/look-ups.ts';
import { openDatabase } from './open-database.ts';
import { createPlantReader, type PlantReader } from './plants/plant-reader.ts';
import { createPlantStatements } from './plants/statements.ts';

/** A read-only store. */
export interface OpenPlantReader extends PlantReader, Pick<OpenPlantFeed, 'changes' | 'follow'> {
  close(): Promise<void>;
}

/**
 * Opens a store only for reading. The Postgres may be a read replica. With `onPrimary`, the Postgres must be
 * the primary, because only the primary has the feed of changes. The user needs only the privilege `SELECT`
 * on `plants`. For the feed, the user also needs `SELECT` on `plant_deletions` and `plant_feed`. When the
 * Postgres is unreachable, each call throws `databaseUnavailable`.
 *
 * @throws DataDirectoryError when the data directory has no store or is not usable.
 * @throws DatabaseSettingsError when the URL cannot be parsed.
 */
export async function openPlantReader(
  options: StoreOptions,
  { onPrimary = false }: Pick<OpenOptions, 'onPrimary'> = {},
): Promise<OpenPlantReader> {
  const database = await openDatabase(options, { readOnly: true, onPrimary });
  const { find } = createPlantStatements(database);
  const lookUps = createLookUps({ find, maxInFlight: database.shares.lookUps });
  const { list, count, read } = createPlantReader(database);
  let watch: Promise<ClusterWatch> | undefined;
  const readOverNodes: ReadChanges = async (...query) => {
    const { nodes } = database;
    const cluster = 'databaseUrl' in options ? options.cluster : undefined;
    if (!nodes || !cluster) throw noFeedOnCluster();
    watch ??= watchCluster(database, nodes, cluster);
    return (await watch).readChanges(...query);
  };
  const { changes, follow, stopWaiting } = createPlantFeed(database, readOverNodes);
  return {
    get: (id, options) => lookUps.run(id, options),
    list,
    count,
    read,
    changes,
    follow,
    async close() {
      stopWaiting();
      await Promise.all([watch?.then((cluster) => cluster.close()), database.close()]);
    },
  };
}

/** Only the feed of a cluster needs the nodes, so the code for nodes is loaded only for this feed. */
async function watchCluster(
  database: Database,
  nodes: NodeConnections,
  cluster: Cluster,
): Promise<ClusterWatch> {
  const { createMainLanes } = await import('./group-commit/lanes.ts');
  const onCommit = () => {};
  const main = createMainLanes(database, onCommit);
  const events = new EventEmitter<ClusterEvents>();
  return cluster.watch({ database, nodes, events, onCommit, main, use() {} });
}

import type { Cluster } from '@plant-store/core/cluster';
import { checkMigration, settings } from './shards/cluster-role.ts';

/** A Postgres that may be a node of a Citus cluster. The store loads other modules only when necessary. */
export const citus: Cluster = {
  settings,
  checkMigration,
  async copyPlants(...copy) {
    const { copyPlants } = await import('./copy-errors.ts');
    return copyPlants(...copy);
  },
  async watch(store) {
    const { watchLanes } = await import('./lanes/lanes.ts');
    return watchLanes(store);
  },
};

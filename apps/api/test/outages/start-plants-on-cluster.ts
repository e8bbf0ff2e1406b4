import { citus } from '@plant-store/citus';
import { distributePlants } from '@plant-store/citus/operator';
import { openPlantStore } from '@plant-store/core';
import { createCitusDatabase, startCitus } from '@plant-store/test-setup';
import postgres from 'postgres';

/** Starts a Citus cluster with distributed plants. The machine needs Citus. */
export async function startPlantsOnCluster() {
  const cluster = await startCitus({ hasProxies: false, settings: { fsync: 'off' } });
  const { url, adminUrl } = await createCitusDatabase(cluster.addresses);
  await (await openPlantStore({ databaseUrl: url, cluster: citus })).close();
  await distributePlants({ databaseUrl: url, shards: 8, confirm: async () => true });
  const admin = postgres(adminUrl, { max: 1, onnotice: () => {} });
  return {
    server: cluster.coordinator.server,
    worker: cluster.workers[0]?.server,
    url,
    admin,
    async stop() {
      await admin.end();
      await cluster.stop();
    },
  };
}

import { citus } from '@plant-store/citus';
import { distributePlants } from '@plant-store/citus/operator';
import { openPlantStore } from '@plant-store/core';
import { createCitusDatabase, startCitus } from '@plant-store/test-setup';
import postgres from 'postgres';
import { it, onTestFinished } from 'vitest';
import { expectCopyAfterFaults, seed } from '../faults/webhook-faults.ts';

it(`an endpoint that rejects half of the requests receives all plants of the cluster, although each instance and each node is killed (seed ${seed})`, {
  timeout: 10 * 60_000,
}, async () => {
  const cluster = await startCitus({ coordinatorHasShards: true, settings: { fsync: 'off' } });
  onTestFinished(() => cluster.stop());
  const { url, adminUrl, workerUrls } = await createCitusDatabase(cluster.addresses);
  await (await openPlantStore({ databaseUrl: url, cluster: citus })).close();
  await distributePlants({ databaseUrl: url, shards: 6, confirm: async () => true });
  // postgres.js 3.4 would end this process if it could not read the array types after a restart.
  const admin = postgres(adminUrl, { max: 1, fetch_types: false, onnotice: () => {} });
  onTestFinished(() => admin.end());
  const servers = [cluster.coordinator, ...cluster.workers].map(({ server }) => server);
  const restart = async () => {
    const server = servers.shift();
    if (!server) return;
    servers.push(server);
    await server.halt();
    await server.start();
  };
  await expectCopyAfterFaults({ urls: [url, workerUrls[0] ?? ''], admin, restart });
});

import { citus } from '@plant-store/citus';
import { distributePlants } from '@plant-store/citus/operator';
import { openPlantStore } from '@plant-store/core';
import {
  type AcknowledgedLoad,
  createCitusDatabase,
  startAcknowledgedLoad,
  startCitus,
  type TestCitus,
} from '@plant-store/test-setup';
import postgres from 'postgres';
import { expect } from 'vitest';
import { isAllowed } from '../faults/store-under-load.ts';
import { expectStored, type Row } from '../faults/stored-plants.ts';
import { serve } from '../fixtures/program.ts';

/** The server's program on a cluster of two workers, and clients that create plants. */
export interface StoreOnCluster {
  readonly cluster: TestCitus;
  readonly url: string;
  readonly token: string;
  /** The URL of the database on the coordinator. */
  readonly databaseUrl: string;
  /** A superuser's connection to the coordinator. */
  readonly admin: postgres.Sql;
  /** For each of the two workers, the clients that create plants on this worker. */
  readonly loads: readonly [AcknowledgedLoad, AcknowledgedLoad];
  /** Returns an unused id that belongs to a shard on the given worker. */
  spareId(worker: 1 | 2): number;
  /** The log lines of the server. */
  log(): string;
  /** Stops the load, and compares the acknowledged plants with the plants in the database. */
  expectAllStored(): Promise<void>;
  stop(): Promise<void>;
}

/** The number of ids that the clients may use. No test creates more plants than this number. */
const idCount = 60_000;

interface StoreOnClusterOptions {
  /** The node that the server uses: 0 means the coordinator, and 1 means the first worker. */
  node?: number;
  /** Further environment variables of the server. */
  env?: Record<string, string>;
}

export async function startStoreOnCluster({
  node = 0,
  env = {},
}: StoreOnClusterOptions = {}): Promise<StoreOnCluster> {
  const cluster = await startCitus({ settings: { fsync: 'off' } });
  const database = await createCitusDatabase(cluster.addresses);
  await (await openPlantStore({ databaseUrl: database.url, cluster: citus })).close();
  await distributePlants({ databaseUrl: database.url, shards: 8, confirm: async () => true });
  const admin = postgres(database.adminUrl, { max: 1, onnotice: () => {} });
  // Citus numbers the workers 1 and 2.
  const nodes = await admin<{ groupid: number }[]>`
    select groupid from generate_series(1, ${idCount}::bigint) as id
      join pg_dist_placement on shardid = get_shard_id_for_distribution_column('plants', id)
    order by id`;

  const DATABASE_URL = [database.url, ...database.workerUrls][node] ?? '';
  const server = await serve({ DATABASE_URL, ...env });
  const startLoad = (worker: number) =>
    startAcknowledgedLoad(server, 8, (id) => nodes[id - 1]?.groupid === worker || id > idCount);
  const loads = [startLoad(1), startLoad(2)] as const;
  await Promise.all(loads.map((load) => load.acknowledged(100)));

  return {
    cluster,
    url: server.url,
    token: server.token,
    databaseUrl: database.url,
    admin,
    loads,
    spareId: (worker) => nodes.findLastIndex(({ groupid }) => groupid === worker) + 1,
    log: server.output,
    async expectAllStored() {
      await Promise.all(loads.map((load) => load.stop()));
      const rows = await admin<Row[]>`select id::int, name, tag from plants`;
      for (const { seen } of loads) {
        expectStored(seen.acknowledged, rows);
        const outcomes = Object.keys(seen.outcomes);
        expect(outcomes.filter((outcome) => !isAllowed(outcome))).toEqual([]);
      }
      const prepared = await admin`
        select from run_command_on_all_nodes('select count(*) from pg_prepared_xacts')
        where result <> '0'`;
      expect(prepared).toEqual([]);
    },
    async stop() {
      await Promise.all(loads.map((load) => load.stop()));
      server.child.kill('SIGKILL');
      await admin.end({ timeout: 0 });
      await cluster.stop();
    },
  };
}

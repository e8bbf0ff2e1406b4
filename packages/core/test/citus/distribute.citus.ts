import { createCitusDatabase } from '@plant-store/test-setup';
import postgres from 'postgres';
import { describe, expect, inject, it } from 'vitest';
import { insertFunctionSignature } from '../../src/cluster/node-functions.ts';
import { distributePlants, inspectCluster } from '../../src/cluster/operator.ts';
import { openPlantStore } from '../../src/plant-store.ts';
import { createDistributedDatabase } from '../fixtures/distributed-database.ts';

describe('distribute on Citus', () => {
  it("removes the coordinator's own copy that an interrupted run has left", async () => {
    const cluster = inject('citus');
    if (!cluster) throw new Error('this test needs the global setup for Citus');
    const { url } = await createCitusDatabase(cluster);
    const store = await openPlantStore({ databaseUrl: url });
    await store.create({ id: 1n, name: 'from before' });
    await store.accessTokens.create('Ann');
    const sql = postgres(url, { max: 1, onnotice: () => {} });
    // The first statement of each table; the run ended before the second one.
    await sql`select create_distributed_table('plants', 'id', shard_count := 4)`;
    await sql`select create_reference_table('access_tokens')`;

    const distribute = () =>
      distributePlants({ databaseUrl: url, shards: 4, confirm: async () => true });
    const { steps } = await distribute();
    expect(steps.map(({ description }) => description)).toEqual([
      'copy drizzle.__drizzle_migrations to every node, as a reference table',
      "remove the coordinator's own copy of access_tokens",
      "remove the coordinator's own copy of plants",
      'create the functions that insert, delete and count the plants of one node',
    ]);
    const [sizes] = await sql`
      select pg_relation_size('plants')::int as plants, pg_relation_size('access_tokens')::int as tokens`;
    expect(sizes).toEqual({ plants: 0, tokens: 0 });
    expect(await store.get(1n)).toMatchObject({ name: 'from before' });
    expect(await store.accessTokens.list()).toHaveLength(1);
    expect(await distribute()).toMatchObject({ steps: [] });
    expect(await inspectCluster(url)).toMatchObject({ missing: [] });
    await Promise.all([store.close(), sql.end()]);
  });

  it('replaces the functions of an earlier version', async () => {
    const { url, workerUrls } = await createDistributedDatabase();
    const [sql, worker] = [url, workerUrls[0] ?? ''].map((each) =>
      postgres(each, { max: 1, onnotice: () => {} }),
    ) as [postgres.Sql, postgres.Sql];
    const read = (node: postgres.Sql) =>
      node`select prosrc from pg_proc where proname like 'plant_store_%' order by proname`;
    const current = await read(sql);
    // As an earlier version would have left them.
    await sql`
      create or replace function plant_store_count(key bigint) returns bigint
      language sql as 'select 0::bigint'`;
    await sql.unsafe(`comment on function ${insertFunctionSignature} is 'an earlier version'`);
    expect(await read(worker)).not.toEqual(current);

    const step = 'create the functions that insert, delete and count the plants of one node';
    expect(await inspectCluster(url)).toMatchObject({ missing: [step] });
    const distribute = () =>
      distributePlants({ databaseUrl: url, shards: 4, confirm: async () => true });
    expect(await distribute()).toMatchObject({ steps: [{ description: step }] });
    for (const node of [sql, worker]) expect(await read(node)).toEqual(current);
    expect(await inspectCluster(url)).toMatchObject({ missing: [] });
    expect(await distribute()).toMatchObject({ steps: [] });
    await Promise.all([sql.end(), worker.end()]);
  });
});

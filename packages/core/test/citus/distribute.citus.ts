import { createCitusDatabase } from '@plant-store/test-setup';
import postgres from 'postgres';
import { describe, expect, inject, it } from 'vitest';
import { distributePlants, inspectCluster } from '../../src/database/cluster.ts';
import { openPlantStore } from '../../src/plant-store.ts';

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
      'create the functions that insert and count the plants of one node',
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
});

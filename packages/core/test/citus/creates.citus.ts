import type { CitusDatabase } from '@plant-store/test-setup';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { readShardMap, type ShardMap } from '../../src/database/cluster/shard-map.ts';
import { openPostgres } from '../../src/database/postgres/postgres-database.ts';
import { openPlantStore, type PlantStore } from '../../src/plant-store.ts';
import { createDistributedDatabase } from '../fixtures/distributed-database.ts';

const shards = 8;

describe('creates on Citus', () => {
  let database: CitusDatabase;
  let store: PlantStore;
  let admin: postgres.Sql;
  let lastId = 0n;
  const freeId = () => ++lastId;

  beforeAll(async () => {
    database = await createDistributedDatabase(shards);
    store = await openPlantStore({ databaseUrl: database.url });
    admin = postgres(database.adminUrl, { max: 1, onnotice: () => {} });
    await store.create({ id: freeId(), name: 'the first one' });
    // The first create has made the store learn the shards.
    await vi.waitFor(() => expect(store.nodes()).toHaveLength(2));
  });

  afterAll(() => Promise.all([store.close(), admin.end()]));

  const readMap = async () => {
    const { query, close } = await openPostgres(database.url);
    const map = await readShardMap(query);
    await close();
    return map as ShardMap; // The tables are distributed.
  };

  it('know the shard of every id as Citus does', async () => {
    const map = await readMap();
    const edges = [0n, 2n ** 31n, 2n ** 32n, 2n ** 62n, 2n ** 63n - 1n].flatMap((id) => [
      id,
      -id,
      -id - 1n,
    ]);
    const many = Array.from({ length: 1_000 }, (_, i) => BigInt(i) * 9_223_372_036_854_775n);
    const ids = [...edges, ...many];
    const rows = await admin`
      select id::text, get_shard_id_for_distribution_column('plants', id)::text as shard
      from unnest(${`{${ids}}`}::bigint[]) as id`;
    expect(rows.map(({ id, shard }) => [id, shard])).toEqual(
      ids.map((id) => [String(id), map.shardOf(id).id]),
    );
  });

  it('concern one node with each statement, and need no prepared transaction', async () => {
    const map = await readMap();
    const plants = Array.from({ length: 500 }, () => ({
      id: freeId(),
      name: '"\\ 🪴',
      tag: 'NULL',
    }));
    await Promise.all(plants.map((plant) => store.create(plant)));
    for (const { id } of plants.slice(0, 20)) {
      expect(await store.get(id)).toMatchObject({ id, name: '"\\ 🪴', tag: 'NULL' });
    }
    expect(map.nodes.map(({ share }) => share)).toEqual([0.5, 0.5]);
    // The last statements that the coordinator has sent to the workers.
    const sent = await admin<{ result: string }[]>`
      select result from run_command_on_workers($$
        select string_agg(query, E'\n') from pg_stat_activity
        where datname = current_database() and application_name like 'citus_internal%'
          and pid <> pg_backend_pid() and query ilike any (array['%insert%', '%prepare%', '%commit%'])
      $$)`;
    expect(sent).toHaveLength(2);
    for (const { result } of sent)
      expect(result).toMatch(/^(SELECT \w+\n? *FROM public\.plant_store_insert.*\n?)+$/i);
  });

  it('find a shard that has moved', async () => {
    const map = await readMap();
    const [from, to] = map.nodes;
    if (!from || !to) throw new Error('the cluster has two workers');
    const ids = Array.from({ length: 400 }, freeId);
    const moved = map.shardOf(from.someId).id;
    const [source = '', target = ''] = [from, to].map(({ address }) => address.split(':')[1]);
    await admin`
      select citus_move_shard_placement(${moved}::bigint, '127.0.0.1', ${source}::int, '127.0.0.1',
        ${target}::int, 'block_writes')`;
    expect((await readMap()).nodes.map(({ share }) => share).toSorted()).toEqual([0.375, 0.625]);
    await Promise.all(ids.map((id) => store.create({ id, name: `plant ${id}` })));
    const found = await Promise.all(ids.map((id) => store.get(id)));
    expect(found.map((plant) => plant?.name)).toEqual(ids.map((id) => `plant ${id}`));
    await vi.waitFor(() => {
      expect(
        store
          .nodes()
          .map(({ share }) => share)
          .toSorted(),
      ).toEqual([0.375, 0.625]);
    });
  });
});

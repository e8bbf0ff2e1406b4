import type { CitusDatabase } from '@plant-store/test-setup';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import type { ConnectTo } from '../../../core/src/database/database.ts';
import { deadlineIn, timeText } from '../../../core/src/database/deadline.ts';
import type { Query } from '../../../core/src/database/query.ts';
import type { Run, Verbs } from '../../../core/src/database/verbs.ts';
import { databaseCode } from '../../../core/src/error-causes.ts';
import { openPlantStore, type PlantStore } from '../../../core/src/plant-store.ts';
import {
  createPlantStatements,
  type PlantStatements,
} from '../../../core/src/plants/statements.ts';
import { createConnectToPrimary } from '../../../core/src/postgres/connect-to-primary.ts';
import { connectPostgres } from '../../../core/src/postgres/connection.ts';
import { openPostgres } from '../../../core/src/postgres/postgres-database.ts';
import { citus } from '../../src/index.ts';
import { createOrdinaryStatements } from '../../src/lanes/citus-statements.ts';
import { type NodeAccess, openNodeAccess } from '../../src/lanes/node-access.ts';
import { createNodeStatements } from '../../src/lanes/node-statements.ts';
import { distributePlants } from '../../src/operator.ts';
import { readShardMap, type ShardMap } from '../../src/shards/shard-map.ts';
import { watchShards } from '../../src/shards/watch-shards.ts';
import { createDistributedDatabase } from '../../test/fixtures/distributed-database.ts';

const shards = 8;

const queryOver =
  ({ read }: Pick<Verbs, 'read'>): Query =>
  (text, values = []) =>
    read(text, values, { share: 'lookUps', deadline: deadlineIn(20_000) });

async function statementsOn(
  access: NodeAccess,
  { write } = access as Pick<Verbs, 'write'>,
): Promise<PlantStatements> {
  const shards = watchShards(queryOver(access));
  await shards.refresh();
  const { read, isDirect } = access;
  return createNodeStatements({ read, write, isDirect }, shards);
}

/** Makes writes late: the deadline in each write has passed a minute ago. */
function late({ read, write }: Verbs): Verbs {
  const writeLate: Run = (text, values, options) =>
    write(
      text,
      typeof values === 'function' ? () => values(timeText(Date.now() - 60_000)) : values,
      options,
    );
  return { read, write: writeLate };
}

const inTime = () => deadlineIn(20_000);

describe('creates on Citus', () => {
  let database: CitusDatabase;
  let store: PlantStore;
  let admin: postgres.Sql;
  let lastId = 0n;
  const freeId = () => ++lastId;

  beforeAll(async () => {
    database = await createDistributedDatabase(shards);
    store = await openPlantStore({ databaseUrl: database.url, cluster: citus });
    admin = postgres(database.adminUrl, { max: 1, onnotice: () => {} });
    await store.create({ id: freeId(), name: 'the first one' });
    // Waits until the store has read the shards.
    await vi.waitFor(() => expect(store.nodes()).toHaveLength(2));
  });

  afterAll(() => Promise.all([store.close(), admin.end()]));

  const readMap = async () => {
    const { close, ...verbs } = await openPostgres(database.url);
    const { map } = await readShardMap(queryOver(verbs));
    await close();
    return map as ShardMap; // The cast is safe, because the plants are distributed.
  };

  it('finds the same shard as Citus for every id', async () => {
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

  /** Returns a free id whose plant the given node stores. */
  const freeIdOn = async (node: number) => {
    const { shardOf } = await readMap();
    let id = freeId();
    while (shardOf(id).node !== node) id = freeId();
    return id;
  };

  const plants = () =>
    Array.from({ length: 300 }, () => ({ id: freeId(), name: '"\\ 🪴', tag: 'NULL' }));

  it('sends creates to the node that stores the plants, without a prepared transaction', async () => {
    // Selects the last statement of each connection to a worker. On a slow machine, the store also asks
    // whether a commit is in progress. The query omits the statements that ask.
    await vi.waitFor(async () => {
      const created = plants();
      await Promise.all(created.map((plant) => store.create(plant)));
      const sent = await admin<{ result: string }[]>`
        select result from run_command_on_workers($$
          select string_agg(distinct query, E'\n') from pg_stat_activity
          where datname = current_database() and application_name like 'plant-store%'
            and query not like '%plant_store_cluster()%' and query not like '%set_config(%'
            and query not like '%pg_stat_activity where pid%'
        $$)`;
      expect(sent).toHaveLength(2);
      for (const { result } of sent)
        expect(result).toMatch(/^(select .* from plant_store_insert\(.*\n?)+$/);
      for (const plant of created.slice(0, 20))
        expect(await store.get(plant.id)).toMatchObject(plant);
    });
  });

  it('sends creates through the coordinator when the store cannot reach a node', async () => {
    const connect = createConnectToPrimary(database.url);
    const { nodes, clusterId, shardOf } = await readMap();
    for (const node of nodes) {
      const access = openNodeAccess(
        { ...node, clusterId },
        { connect, connectTo: () => Promise.reject(new Error('out of reach')) },
      );
      const statements = await statementsOn(access);
      const ofNode = plants().filter(({ id }) => shardOf(id).node === node.id);
      const ids = ofNode.map(({ id }) => id);
      expect(await statements.insert(ofNode, inTime())).toEqual(new Set(ids));
      expect(await statements.insert(ofNode, inTime())).toEqual(new Set());
      const found = await statements.findDurable(ids, inTime());
      expect([...found.keys()]).toEqual(expect.arrayContaining(ids));
      expect(await statements.delete(ids[0] ?? 0n, { deadline: inTime() })).toBe(true);
      expect(await statements.delete(ids[0] ?? 0n, { deadline: inTime() })).toBe(false);
      expect(access.isDirect).toBe(false);
      expect(access.directError).toMatchObject({ message: 'out of reach' });
      await access.close();
    }
  });

  it('sends creates to a node as soon as the store can reach the node', async () => {
    const connect = createConnectToPrimary(database.url);
    const { nodes, clusterId } = await readMap();
    const [node] = nodes;
    if (!node) throw new Error('the cluster has two workers');
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    let connectTo: ConnectTo = () => Promise.reject(new Error('out of reach'));
    const access = openNodeAccess(
      { ...node, clusterId },
      { connect, connectTo: (...to) => connectTo(...to) },
    );
    const query = queryOver(access);
    const groups = () =>
      Promise.all(
        Array.from({ length: 2 }, () => query('select groupid from pg_dist_local_group', [])),
      );
    await groups();
    connectTo = (host, port, timeout) =>
      connectPostgres({ url: database.url, host, port, timeout });
    await groups();
    expect(access.isDirect).toBe(false);
    vi.advanceTimersByTime(15_001);
    await groups(); // Starts another attempt to connect to the node.
    await vi.waitFor(() => expect(access.isDirect).toBe(true));
    expect(access.directError).toBeUndefined();
    for (const { rows } of await groups()) expect(rows).toEqual([[node.id]]);
    await access.close();
  });

  it('sends no creates to a wrong server at the address of a node', async () => {
    const connect = createConnectToPrimary(database.url);
    const { nodes, clusterId } = await readMap();
    const [node] = nodes;
    if (!node) throw new Error('the cluster has two workers');
    const access = openNodeAccess(
      { ...node, clusterId },
      { connect, connectTo: connect }, // `connect` connects to the coordinator.
    );
    await queryOver(access)('select 1', []);
    expect(access.isDirect).toBe(false);
    await access.close();
  });

  it('creates and deletes nothing after the deadline, directly or through another node', async () => {
    const { nodes, clusterId } = await readMap();
    const [node] = nodes;
    if (!node) throw new Error('the cluster has two workers');
    const connect = createConnectToPrimary(database.url);
    const connectTo: ConnectTo = (host, port, timeout) =>
      connectPostgres({ url: database.url, host, port, timeout });
    const direct = openNodeAccess({ ...node, clusterId }, { connect, connectTo });
    const rerouted = openNodeAccess({ ...node, clusterId }, { connect, connectTo: connect });
    const { close, ...verbs } = await openPostgres(database.url);
    const [id, free] = [await freeIdOn(node.id), await freeIdOn(node.id)];
    await store.create({ id, name: 'stays' });
    for (const [statements, code] of [
      [await statementsOn(direct, late(direct)), 'CLOCKS_MOVED'],
      [await statementsOn(rerouted, late(rerouted)), 'CLOCKS_MOVED'],
      // An ordinary INSERT that is late throws `lateWriteError`.
      [createOrdinaryStatements(late(verbs)), '22P02'],
      [createPlantStatements(late(verbs)), 'CLOCKS_MOVED'],
    ] as const) {
      const error = await statements
        .insert([{ id: free, name: 'is late' }], inTime())
        .catch((cause: unknown) => cause);
      expect(databaseCode(error)).toBe(code);
      const deletion = statements.delete(id, { deadline: inTime() });
      expect(databaseCode(await deletion.catch((cause: unknown) => cause))).toBe('CLOCKS_MOVED');
      expect(await store.get(id)).toMatchObject({ name: 'stays' });
      expect(await store.get(free)).toBeUndefined();
    }
    await Promise.all([direct.close(), rerouted.close(), close()]);
  });

  it('can send a large batch through the coordinator', async () => {
    const { close, ...verbs } = await openPostgres(database.url);
    const plants = Array.from({ length: 300 }, () => ({ id: freeId(), name: 'many', tag: 'x' }));
    const ids = new Set(plants.map(({ id }) => id));
    const isLate = createOrdinaryStatements(late(verbs)).insert(plants, inTime());
    const error = await isLate.catch((cause: unknown) => cause);
    expect(databaseCode(error)).toMatch(/22P02|CLOCKS_MOVED/);
    expect(await store.countUpTo(1_000, { tag: 'x' })).toBe(0);
    const { insert } = createOrdinaryStatements(verbs);
    expect(await insert(plants, inTime())).toEqual(ids);
    expect(await insert(plants, inTime())).toEqual(new Set());
    expect(await store.countUpTo(1_000, { tag: 'x' })).toBe(300);
    await close();
  });

  it('finds the plants of a shard that has moved', async () => {
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

describe('a Citus cluster with a new node or a split shard', () => {
  it('creates plants in a split shard, and sends plants to their nodes again after another distribute', async () => {
    const { url, adminUrl } = await createDistributedDatabase(2);
    const { close, ...verbs } = await openPostgres(url);
    const query = queryOver(verbs);
    const { map: before } = await readShardMap(query);
    const admin = postgres(adminUrl, { max: 1, onnotice: () => {} });
    await admin`
      select citus_split_shard_by_split_points(
        shardid, array['1000'], array[nodeid, nodeid], 'block_writes')
      from pg_dist_shard join pg_dist_placement using (shardid) join pg_dist_node using (groupid)
      where logicalrelid = 'plants'::regclass and shardminvalue = '0'`;
    expect((await readShardMap(query)).map).toBeUndefined();
    const store = await openPlantStore({ databaseUrl: url, cluster: citus });
    const ids = Array.from({ length: 100 }, (_, i) => BigInt(i));
    const createAll = () => Promise.all(ids.map((id) => store.create({ id, name: `plant ${id}` })));
    await createAll();
    const { steps } = await distributePlants({
      databaseUrl: url,
      shards: 2,
      confirm: async () => true,
    });
    expect(steps.map(({ description }) => description)).toEqual([
      'create the functions that insert and delete the plants of one node',
    ]);
    const { map } = await readShardMap(query);
    expect(map?.nodes.map((node) => node.shards).toSorted()).toEqual([1, 2]);
    // With a new id, instances would replace all connections to the nodes.
    expect(map?.clusterId).toBe(before?.clusterId);
    await createAll();
    const [{ count } = {}] = await admin`select count(*) from plants`;
    expect(count).toBe('100');
    await Promise.all([store.close(), close(), admin.end()]);
  });

  it('creates plants on a new node as soon as the node has shards', async () => {
    const { url, adminUrl } = await createDistributedDatabase(4, 1);
    const store = await openPlantStore({ databaseUrl: url, cluster: citus });
    const admin = postgres(adminUrl, { max: 1, onnotice: () => {} });
    const [, , added] = inject('citus')?.nodes ?? [];
    let id = 0n;
    let isOver = false;
    const errors: unknown[] = [];
    const creating = Array.from({ length: 8 }, async () => {
      while (!isOver) {
        const plant = { id: ++id, name: 'x' };
        await store.create(plant).catch((error) => errors.push(error));
      }
    });

    await admin`select citus_add_node('127.0.0.1', ${new URL(added?.proxyUrl ?? '').port}::int)`;
    await admin`select citus_rebalance_start(shard_transfer_mode := 'force_logical')`;
    await admin`select citus_rebalance_wait()`;
    await vi.waitFor(() => expect(store.nodes().map(({ share }) => share)).toEqual([0.5, 0.5]));
    const before = id;
    await vi.waitFor(() => expect(id).toBeGreaterThan(before + 100n));
    isOver = true;
    await Promise.all(creating);
    const [{ count } = {}] = await admin`select count(*) from plants`;
    expect(errors).toEqual([]);
    expect(count).toBe(String(id));
    await Promise.all([store.close(), admin.end()]);
  });
});

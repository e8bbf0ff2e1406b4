import { createCitusDatabase, startCitus } from '@plant-store/test-setup';
import type postgres from 'postgres';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Query } from '../../../core/src/database/query.ts';
import { connectPostgres } from '../../../core/src/postgres/connection.ts';
import { readCopied } from '../../src/operator/ask-nodes.ts';
import { readBlindInstances } from '../../src/operator/blind-instances.ts';
import { distributePlants, inspectCluster } from '../../src/operator.ts';
import { insertFunctionSignature } from '../../src/shards/node-functions.ts';
import {
  connect,
  createDistributedDatabase,
  createEmptyDatabase,
  distribute,
  openStore,
} from '../fixtures/distributed-database.ts';

describe('distribute on Citus', () => {
  it('removes the rows that an interrupted run has left on the coordinator', async () => {
    const { url } = await createEmptyDatabase();
    const store = await openStore(url);
    await store.create({ id: 1n, name: 'from before' });
    await store.accessTokens.create('Ann');
    const sql = connect(url);
    // The interrupted run executed only the first of two statements for each table.
    await sql`select create_distributed_table('plants', 'id', shard_count := 4)`;
    await sql`select create_reference_table('access_tokens')`;

    const { steps } = await distribute(url);
    expect(steps.map(({ description }) => description)).toEqual([
      'distribute the deletions of the feed, which begins anew: followers list the plants again',
      'copy plant_feed to every node, as a reference table',
      'copy drizzle.__drizzle_migrations to every node, as a reference table',
      "remove the coordinator's own copy of access_tokens",
      "remove the coordinator's own copy of plants",
      'create the functions that insert and delete the plants of one node',
    ]);
    const [sizes] = await sql`
      select pg_relation_size('plants')::int as plants, pg_relation_size('access_tokens')::int as tokens`;
    expect(sizes).toEqual({ plants: 0, tokens: 0 });
    expect(await store.get(1n)).toMatchObject({ name: 'from before' });
    expect((await store.accessTokens.list()).tokens).toHaveLength(1);
    expect(await distribute(url)).toMatchObject({ steps: [] });
    expect(await inspectCluster(url)).toMatchObject({ missing: [] });
  });

  it('stores each shard on one node, even when the default of the database is two nodes', async () => {
    const { url, adminUrl } = await createEmptyDatabase();
    const admin = connect(adminUrl);
    const [{ name } = {}] = await admin`select current_database() as name`;
    await admin.unsafe(`alter database ${name} set citus.shard_replication_factor = 2`);
    const store = await openStore(url);
    await distribute(url);
    expect(await inspectCluster(url)).toMatchObject({
      missing: [],
      nodes: [{ shards: 2 }, { shards: 2 }],
    });
    expect(await store.changes({})).toMatchObject({ changes: [] });
  });

  it('creates and deletes plants through Citus when only the URL names the schema of the tables', async () => {
    const database = await createEmptyDatabase();
    await connect(database.adminUrl)`create schema garden authorization gardener`;
    const url = `${database.url}?search_path=garden`;
    const store = await openStore(url);
    const sql = connect(url);
    await distribute(url);
    const { nodes = [] } = (await inspectCluster(url)) ?? {};
    expect(nodes.map(({ feed }) => feed?.isOn)).toEqual([true, true]);

    const { next } = await store.changes({});
    await sql`insert into plants (id, name) select i, 'Hoya' from generate_series(1, 9) i`;
    await sql`delete from plants where id = 9`;
    const types = async () =>
      (await store.changes({ after: next })).changes.map(({ type }) => type).sort();
    await vi.waitFor(async () =>
      expect(await types()).toEqual([...Array(8).fill('created'), 'deleted']),
    );
    await sql`analyze plants`;
    const { nodes: [first, second] = [] } = (await inspectCluster(url)) ?? {};
    expect((first?.plants ?? 0) + (second?.plants ?? 0)).toBe(8);
  });

  it('replaces the functions of an earlier version', async () => {
    const { url, workerUrls } = await createDistributedDatabase();
    const [sql, worker] = [connect(url), connect(workerUrls[0] ?? '')];
    const read = (node: postgres.Sql) =>
      node`select prosrc from pg_proc where proname like 'plant_store_%' order by proname`;
    const current = await read(sql);
    // These statements make the functions look like the functions of an earlier version.
    await sql`
      create or replace function plant_store_renew(key bigint) returns void
      language sql as ''`;
    await sql`drop function plant_store_shard_changes(xid8, bigint, int, xid8, bigint)`;
    await sql`
      create function plant_store_shard_changes(xid8, bigint, int, xid8, bigint)
      returns table (type text, id bigint) language sql as $$ select 'created', 1::bigint $$`;
    await sql.unsafe(`comment on function ${insertFunctionSignature} is 'an earlier version'`);
    expect(await read(worker)).not.toEqual(current);

    const step = 'create the functions that insert and delete the plants of one node';
    expect(await inspectCluster(url)).toMatchObject({ missing: [step] });
    expect(await distribute(url)).toMatchObject({ steps: [{ description: step }] });
    for (const node of [sql, worker]) expect(await read(node)).toEqual(current);
    expect(await inspectCluster(url)).toMatchObject({ missing: [] });
    expect(await distribute(url)).toMatchObject({ steps: [] });
  });

  it('moves many plants while creates go on, and loses no plant', async () => {
    const { url, adminUrl } = await createEmptyDatabase();
    const store = await openStore(url);
    const admin = connect(adminUrl);
    await fill(admin);

    if ((await admin`select from pg_settings where name = 'output_plugin_libraries'`).length > 0) {
      await expect(distribute(url)).rejects.toThrow('add citus to output_plugin_libraries');
      const [{ name } = {}] = await admin`select current_database() as name`;
      await admin.unsafe(`alter database ${name} set output_plugin_libraries = pgoutput, citus`);
    }

    const created: bigint[] = [];
    const deleted: bigint[] = [];
    let isDistributed = false;
    const createAndDelete = async (first: bigint) => {
      for (let id = first; !isDistributed; id += 8n) {
        await store.create({ id, name: 'meanwhile' });
        created.push(id);
        if (created.length % 5 === 0 && (await store.delete(id))) deleted.push(id);
      }
    };
    const writers = Array.from({ length: 8 }, (_, i) => createAndDelete(BigInt(many + 1 + i)));
    await vi.waitFor(() => expect(created.length).toBeGreaterThan(8));
    const before = created.length;
    const { steps } = await distribute(url);
    isDistributed = true;
    await Promise.all(writers);
    expect(steps[0]?.description).toMatch(
      /^distribute plants by id over 4 shards, while creates go on/,
    );
    expect(created.length).toBeGreaterThan(before);

    const stored = await admin`select id::text from plants where name = 'meanwhile'`;
    const expected = created.filter((id) => !deleted.includes(id)).map(String);
    expect(stored.map(({ id }) => id).sort()).toEqual(expected.sort());
    expect(await admin`select count(*)::int from plants where id <= ${many}`).toEqual([
      { count: many },
    ]);
    expect(await inspectCluster(url)).toMatchObject({ missing: [], nodes: [{}, {}] });
  });

  it('moves many plants in one statement only with `isBlocking`, and reports the number of plants', async () => {
    const settings = { wal_level: 'replica', fsync: 'off' };
    const cluster = await startCitus({ workers: 1, settings });
    onTestFinished(() => cluster.stop());
    const { url, workerUrls } = await createCitusDatabase(cluster.addresses);
    await (await openStore(url)).close();
    const [sql, worker] = [connect(url), connect(workerUrls[0] ?? '')];
    await fill(sql);
    await sql`analyze plants`;
    const options = { databaseUrl: url, shards: 2, confirm: async () => true };
    await expect(distributePlants(options)).rejects.toThrow('set wal_level = logical');

    // This transaction delays the move until the test has reported the rows of a COPY.
    await sql`begin`;
    await sql`insert into plants (id, name) values (0, 'Hoya')`;
    await worker`create table plants_1 (id bigint)`;
    const copy = await worker`copy plants_1 from stdin`.writable();
    copy.write('1\n'.repeat(100_000));
    let isMoving = false;
    const onCopied = vi.fn(() => {
      if (!isMoving) copy.end(() => void sql`commit`.execute());
      isMoving = true;
    });
    const { steps } = await distributePlants({ ...options, isBlocking: true, onCopied });
    expect(onCopied).toHaveBeenCalledWith(expect.any(Number), many);
    expect(steps[0]?.move).toEqual({ isBlocking: true, plants: many });
    expect(await sql`select count(*)::int from plants`).toEqual([{ count: many + 1 }]);
  });

  it('counts the plants that the nodes receive from running COPY statements', async () => {
    const { url, workerUrls } = await createDistributedDatabase();
    const query = await queryOn(url);
    const worker = connect(workerUrls[0] ?? '', { max: 2 });
    const count = () => readCopied(query);
    expect(await count()).toBe(0);
    await worker`create table plants_1 (id bigint)`;
    const copy = await worker`copy plants_1 from stdin`.writable();
    copy.write('1\n'.repeat(100_000));
    await vi.waitFor(async () => expect(await count()).toBeGreaterThan(0));
    copy.end();
    await vi.waitFor(async () => expect(await count()).toBe(0));
  });

  it('does not report the session that PgBouncer keeps after an instance has noticed the cluster', async () => {
    const { url } = await createDistributedDatabase();
    const query = await queryOn(url);
    const session = connect(url, { connection: { application_name: 'plant-store' } });
    const read = (usedWithin?: number) => readBlindInstances(query, usedWithin);
    await session`select 1`;
    expect(await read()).toMatchObject([{ application: 'plant-store' }]);
    await vi.waitFor(async () => expect(await read(0.1)).toEqual([]));
  });

  it('waits until all instances notice the cluster, and names the instances that do not notice it', async () => {
    const { url, workerUrls } = await createDistributedDatabase();
    const names = ['plant-store', 'plant-store process 1', 'plant-store process 2'];
    const instances = names.map((application_name) =>
      connect(workerUrls[1] ?? '', { connection: { application_name } }),
    ) as [postgres.Sql, ...postgres.Sql[]]; // The cast is safe, because each name has a connection.
    for (const each of instances) await each`select 1`;
    const [{ nodeport } = {}] = await instances[0]`
      select nodeport from pg_dist_node where groupid = (select groupid from pg_dist_local_group)`;
    const blind = names.map((application) => {
      return { node: `127.0.0.1:${nodeport}`, address: '127.0.0.1', application };
    });
    expect(await distribute(url)).toMatchObject({ isDone: true, blindInstances: blind });
    expect(await inspectCluster(url)).toMatchObject({ blindInstances: blind });
    const onWait = vi.fn(() => {
      for (const each of instances)
        void each`set application_name = 'plant-store cluster'`.execute();
    });
    expect(await distribute(url, { patience: 60_000, onWait })).toMatchObject({
      blindInstances: [],
    });
    expect(onWait).toHaveBeenCalledWith(blind);
  });
});

/** Returns a function that sends statements on a connection of the store. */
async function queryOn(url: string): Promise<Query> {
  const { hostname: host, port } = new URL(url);
  const { query, close } = await connectPostgres({
    url,
    host,
    port: Number(port),
    timeout: 60_000,
  });
  onTestFinished(close);
  return query;
}

/** One statement cannot move this many plants in a second. */
const many = 300_000;

async function fill(sql: postgres.Sql): Promise<void> {
  await sql`insert into plants (id, name) select i, 'Monstera deliciosa ' || i from generate_series(1, ${many}) i`;
}

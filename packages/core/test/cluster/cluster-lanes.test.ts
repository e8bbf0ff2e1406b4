import { createDatabase } from '@plant-store/test-setup';
import postgres from 'postgres';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { createFindNode } from '../../src/cluster/find-node.ts';
import { watchShards } from '../../src/cluster/watch-shards.ts';
import type { Database, NodeAccess, Query, StorageNode } from '../../src/database/database.ts';
import { openPostgres } from '../../src/database/postgres/postgres-database.ts';
import { createNodeTable } from '../../src/plants/write/node-table.ts';
import { createPlantTable } from '../../src/plants/write/plant-table.ts';
import { createPlantWriter, type PlantWriter } from '../../src/plants/write/plant-writer.ts';

let sql: postgres.Sql;
let database: Database;

beforeAll(async () => {
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  database = await openPostgres(databaseUrl);
  sql = postgres(databaseUrl);
  await sql`alter table plants add constraint no_poison check (name <> 'poison')`;
  // As the function on a node of a cluster does, apart from its shards.
  await sql.unsafe(`
    create function plant_store_insert(key bigint, shards text, counts text, ids text, names text, tags text)
    returns setof bigint language sql as $$
      insert into plants (id, name, tag)
      select * from unnest(ids::bigint[], names::text[], tags::text[])
      on conflict do nothing returning id $$`);
});

afterAll(() => Promise.all([sql.end(), database.close()]));

const free = { from: 0n };
const freeId = () => ++free.from;
const databaseError = (code: string) => Object.assign(new Error('from the node'), { code });

/** What each node of the cluster does before a statement. */
let before: Record<number, () => Promise<unknown> | undefined>;
/** The texts of the statements by the number of the node; 0 is the node of the URL. */
let sent: Record<number, string[]>;
/** The nodes that the store has opened, with the cluster. */
let opened: [StorageNode, string][];
/** Why the store cannot reach a node itself. */
let directErrors: Record<number, Error>;
let shards: unknown[][];
let readsOfShards: number;

beforeEach(() => {
  before = {};
  sent = {};
  opened = [];
  directErrors = {};
  readsOfShards = 0;
  shards = [
    ['11', -(2 ** 31), -1, 1, 'one:1', true, 'the cluster'],
    ['12', 0, 2 ** 31 - 1, 2, 'two:2', true, 'the cluster'],
  ];
});

function on(node: number): Query {
  return async (text, values) => {
    sent[node] ??= [];
    sent[node].push(text);
    await before[node]?.();
    return database.query(text, values);
  };
}

/** Opens a writer over two nodes of a cluster, as far as it can tell: their tables are one. */
function openOnCluster(): PlantWriter {
  const query: Query = async (text, values) => {
    const hashed = /hashint8\('(.*)'\)/.exec(text)?.[1];
    if (hashed) {
      readsOfShards++;
      const [row] = await sql`select hashint8(${hashed}) as hash`;
      return { rows: [[true, row?.['hash']]], count: 1 };
    }
    if (!text.includes('pg_dist_shard')) return on(0)(text, values);
    return { rows: shards, count: shards.length };
  };
  const onNode = (node: StorageNode, clusterId: string): NodeAccess => {
    opened.push([node, clusterId]);
    return {
      db: database.db,
      query: on(node.id),
      isDirect: true,
      get directError() {
        return directErrors[node.id];
      },
    };
  };
  const cluster: Database = { ...database, query, onNode };
  return writerOver(cluster);
}

function writerOver(database: Database): PlantWriter {
  const shards = watchShards(database.query);
  const findNode = createFindNode(database, shards);
  return createPlantWriter({ database, table: createPlantTable(database), shards, findNode });
}

/** Opens a writer that knows the shards already. */
async function openWriter(): Promise<PlantWriter> {
  const writer = openOnCluster();
  await writer.create({ id: freeId(), name: 'the first one' });
  await vi.waitFor(() => expect(writer.nodes()).toHaveLength(2));
  expect(sent).toEqual({ 0: [expect.stringContaining('insert into "plants"')] });
  sent = {};
  return writer;
}

/** A free id that a node stores: Postgres's hash of it is negative on the first one. */
async function freeIdOn(node: number): Promise<bigint> {
  for (;;) {
    const id = freeId();
    const [row] = await sql`select hashint8(${String(id)}) < 0 as is_first`;
    if (row?.['is_first'] === (node === 1)) return id;
  }
}

const insertOnNode = expect.stringContaining('from plant_store_insert(');
const ordinaryInsert = expect.stringContaining('insert into "plants"');

describe('creates on a cluster', () => {
  it('go to the node that stores them, as soon as the shards are known', async () => {
    const writer = await openWriter();
    const [first, second] = [await freeIdOn(1), await freeIdOn(2)];
    expect(await writer.create({ id: first, name: 'Hoya' })).toEqual({ name: 'Hoya' });
    expect(sent).toEqual({ 1: [insertOnNode] });
    // The types allow no number, and internal tools may bypass the types.
    const unsafe = { id: Number(second) as unknown as bigint, name: 'Ficus', tag: 'Moraceae' };
    expect(await writer.create(unsafe)).toEqual({ name: 'Ficus', tag: 'Moraceae' });
    expect(sent).toEqual({ 1: [insertOnNode], 2: [insertOnNode] });
    expect(opened).toMatchObject([
      [{ id: 1, address: 'one:1' }, 'the cluster'],
      [{ id: 2, address: 'two:2' }, 'the cluster'],
    ]);
    const stored = await sql`
      select name from plants where id = any (${`{${first},${second}}`}::bigint[]) order by 1`;
    expect(stored).toEqual([{ name: 'Ficus' }, { name: 'Hoya' }]);
    await writer.create({ id: await freeIdOn(1), name: 'Hoya' });
    expect(opened).toHaveLength(2);
    expect(readsOfShards).toBe(1);
  });

  it('compare a plant whose id is taken with the stored one', async () => {
    const writer = await openWriter();
    const id = await freeIdOn(1);
    await writer.create({ id, name: 'Hoya' });
    await expect(writer.create({ id, name: 'Ficus' })).rejects.toMatchObject({ kind: 'idTaken' });
    expect(await writer.create({ id, name: 'Hoya' })).toEqual({ name: 'Hoya' });
  });

  it('reject an invalid plant, whose node is not known', async () => {
    const writer = await openWriter();
    for (const plant of [null, { id: 1.5, name: 'x' }, { id: '5', name: 'x' }, { name: 'x' }]) {
      const create = writer.create(plant as never); // Internal tools may bypass the types.
      await expect(create).rejects.toMatchObject({ kind: 'invalidInput' });
    }
    expect(sent).toEqual({});
  });

  it('go on while another node hangs, and count as pending', async () => {
    const writer = await openWriter();
    const hung = Promise.withResolvers<void>();
    before[1] = () => hung.promise;
    const ids = [await freeIdOn(1), await freeIdOn(1), await freeIdOn(1)];
    const waiting = ids.map((id) => writer.create({ id, name: 'Hoya' }));
    const other = { id: await freeIdOn(2), name: 'Ficus' };
    expect(writer.pending()).toEqual({ waiting: 2, inFlight: 1 });
    expect(await writer.create(other)).toEqual({ name: 'Ficus' });
    hung.resolve();
    expect(await Promise.all(waiting)).toHaveLength(3);
    expect(writer.pending()).toEqual({ waiting: 0, inFlight: 0 });
  });

  it('are reported, whichever node stores them', async () => {
    const writer = openOnCluster();
    const sizes: number[] = [];
    writer.events.on('batch', ({ size }) => sizes.push(size));
    await writer.create({ id: freeId(), name: 'before the shards are known' });
    await vi.waitFor(() => expect(writer.nodes()).toHaveLength(2));
    await writer.create({ id: await freeIdOn(1), name: 'Hoya' });
    expect(sizes).toEqual([1, 1]);
  });

  it.each(['PS001', '42883', '42501'])(
    'are ordinary inserts after the error %s, and the shards are read again',
    async (code) => {
      const writer = await openWriter();
      before[1] = async () => {
        delete before[1];
        throw databaseError(code);
      };
      const id = await freeIdOn(1);
      expect(await writer.create({ id, name: 'Hoya' })).toEqual({ name: 'Hoya' });
      expect(sent).toEqual({ 1: [insertOnNode, ordinaryInsert] });
      expect(readsOfShards).toBe(2);
    },
  );

  it.each(['53100', undefined])('fail with any other error, such as %s', async (code) => {
    const writer = await openWriter();
    before[1] = () => Promise.reject(code ? databaseError(code) : new Error('away'));
    const create = writer.create({ id: await freeIdOn(1), name: 'Hoya' });
    await expect(create).rejects.toMatchObject({ code: 50300 });
    expect(sent).toEqual({ 1: [insertOnNode] });
    expect(readsOfShards).toBe(1);
  });

  it('are ordinary inserts of a queue of a node that is no node any more', async () => {
    const access = { db: database.db, query: on(1), isDirect: true, directError: undefined };
    const withoutShards = { ...watchShards(database.query), current: undefined };
    const { insert } = createNodeTable(access, withoutShards);
    const id = freeId();
    expect(await insert([{ id, name: 'Hoya' }])).toEqual(new Set([id]));
    expect(sent).toEqual({ 1: [ordinaryInsert] });
  });

  it('are ordinary inserts when the table is no longer distributed', async () => {
    const writer = await openWriter();
    const id = await freeIdOn(1);
    await writer.create({ id, name: 'Hoya' });
    shards = [];
    before[1] = async () => {
      delete before[1];
      throw databaseError('42883');
    };
    await writer.create({ id: await freeIdOn(1), name: 'Hoya' });
    sent = {};
    await vi.waitFor(() => expect(writer.nodes()).toEqual([]));
    await writer.create({ id: await freeIdOn(1), name: 'Hoya' });
    expect(sent).toEqual({ 0: [ordinaryInsert] });
  });

  it('are accepted until the writer is closed, and answered before it is', async () => {
    const writer = await openWriter();
    const hung = Promise.withResolvers<void>();
    before[2] = () => hung.promise;
    const create = writer.create({ id: await freeIdOn(2), name: 'Ficus' });
    let isDrained = false;
    const drained = writer.drained().then(() => {
      isDrained = true;
    });
    const closing = { kind: 'shuttingDown' };
    for (const node of [1, 2]) {
      const late = writer.create({ id: await freeIdOn(node), name: 'Hoya' });
      await expect(late).rejects.toMatchObject(closing);
    }
    expect(isDrained).toBe(false);
    hung.resolve();
    expect(await create).toEqual({ name: 'Ficus' });
    await drained;
  });
});

describe('the state of the nodes', () => {
  const state = (first: boolean, second: boolean) => [
    { address: 'one:1', share: 0.5, isWritable: first },
    { address: 'two:2', share: 0.5, isWritable: second },
  ];

  it('follows the latest insert on each node, and each change is reported once', async () => {
    const writer = await openWriter();
    const changes: unknown[] = [];
    writer.events.on('node', (node) => changes.push(node));
    expect(writer.nodes()).toEqual(state(true, true));
    before[1] = () => Promise.reject(new Error('away'));
    for (let i = 0; i < 2; i++) {
      const create = writer.create({ id: await freeIdOn(1), name: 'Hoya' });
      await expect(create).rejects.toMatchObject({ code: 50300 });
    }
    await writer.create({ id: await freeIdOn(2), name: 'Hoya' });
    expect(writer.nodes()).toEqual(state(false, true));
    before = {};
    await writer.create({ id: await freeIdOn(1), name: 'Hoya' });
    expect(writer.nodes()).toEqual(state(true, true));
    expect(changes).toEqual([state(false, true)[0], state(true, true)[0]]);
  });

  it('is good when a node rejects a plant', async () => {
    const writer = await openWriter();
    const create = writer.create({ id: await freeIdOn(1), name: 'poison' });
    await expect(create).rejects.toThrow('the table does not allow this plant');
    expect(writer.nodes()).toEqual(state(true, true));
  });

  /** The table is no longer distributed, and the writer has noticed it. */
  const leaveCluster = async (writer: PlantWriter) => {
    shards = [];
    before[2] = async () => {
      delete before[2];
      throw databaseError('PS001');
    };
    await writer.create({ id: await freeIdOn(2), name: 'Ficus' });
    await vi.waitFor(() => expect(writer.nodes()).toEqual([]));
  };

  it('is not reported for a node that has left the cluster', async () => {
    const writer = await openWriter();
    const changes: unknown[] = [];
    writer.events.on('node', (node) => changes.push(node));
    const hung = Promise.withResolvers<void>();
    before[1] = () => hung.promise;
    const create = writer.create({ id: await freeIdOn(1), name: 'Hoya' });
    const failed = expect(create).rejects.toMatchObject({ cause: { message: 'away' } });
    await leaveCluster(writer);
    hung.reject(new Error('away'));
    await failed;
    expect(changes).toEqual([]);
  });

  it('follows a probe of each node', async () => {
    const writer = openOnCluster();
    const changes: unknown[] = [];
    writer.events.on('node', (node) => changes.push(node));
    await writer.probeNodes(); // It starts to read the shards.
    await vi.waitFor(() => expect(writer.nodes()).toHaveLength(2));
    before[2] = () => Promise.reject(new Error('away'));
    await writer.probeNodes();
    expect(writer.nodes()).toEqual(state(true, false));
    expect(sent).toEqual({ 1: [insertOnNode], 2: [insertOnNode] });
    before[1] = () => new Promise(() => {});
    before[2] = () => undefined;
    await writer.probeNodes();
    expect(writer.nodes()).toEqual(state(false, true));
    expect(opened.at(-1)).toMatchObject([{ id: 2 }, 'the cluster']);
    const [first] = state(false, true);
    const [, second] = state(true, false);
    expect(changes).toEqual([second, { ...second, isWritable: true }, first]);
  });

  it('has a detour from the first create or probe that another node has passed on', async () => {
    const writer = await openWriter();
    const detours: unknown[] = [];
    writer.events.on('detour', (detour) => detours.push(detour));
    const error = databaseError('ENOTFOUND');
    directErrors = { 1: error, 2: error };
    before[1] = () => Promise.reject(new Error('away'));
    await expect(writer.create({ id: await freeIdOn(1), name: 'Hoya' })).rejects.toThrow();
    await writer.create({ id: await freeIdOn(2), name: 'Hoya' });
    expect(detours).toEqual([{ address: 'two:2', error }]);
    await writer.create({ id: await freeIdOn(2), name: 'Hoya' });
    await writer.probeNodes();
    expect(detours).toHaveLength(1);
    before = {};
    await writer.probeNodes();
    directErrors = {};
    await writer.create({ id: await freeIdOn(1), name: 'Hoya' });
    await writer.probeNodes();
    expect(detours.slice(1)).toEqual([
      { address: 'one:1', error },
      { address: 'one:1', error: undefined },
      { address: 'two:2', error: undefined },
    ]);
  });

  it('has no detour to a node that has left the cluster', async () => {
    const writer = await openWriter();
    const detours: unknown[] = [];
    writer.events.on('detour', (detour) => detours.push(detour));
    directErrors = { 1: databaseError('ENOTFOUND') };
    const hung = Promise.withResolvers<void>();
    before[1] = () => hung.promise;
    const create = writer.create({ id: await freeIdOn(1), name: 'Hoya' });
    await leaveCluster(writer);
    hung.resolve();
    expect(await create).toEqual({ name: 'Hoya' });
    expect(detours).toEqual([]);
  });

  it('is empty on a database that is no part of a cluster', async () => {
    const query = vi.fn(database.query);
    const writer = writerOver({ ...database, query });
    await writer.probeNodes();
    await writer.create({ id: freeId(), name: 'Hoya' });
    await writer.probeNodes();
    expect(writer.nodes()).toEqual([]);
    expect(query).toHaveBeenCalledOnce(); // The create: it has no shards to read.
  });
});

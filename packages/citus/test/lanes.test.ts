import { EventEmitter } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import type { ClusterEvents, StoreLanes } from '@plant-store/core/cluster';
import { createDatabase } from '@plant-store/test-setup';
import postgres from 'postgres';
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  inject,
  it,
  onTestFinished,
  vi,
} from 'vitest';
import type { Database, DatabaseConnection } from '../../core/src/database/database.ts';
import { deadlineIn, timeText } from '../../core/src/database/deadline.ts';
import type { Rows, Values } from '../../core/src/database/query.ts';
import type { Run } from '../../core/src/database/verbs.ts';
import { createMainLanes } from '../../core/src/group-commit/lanes.ts';
import { contentColumns } from '../../core/src/plants/columns.ts';
import { openPostgres } from '../../core/src/postgres/postgres-database.ts';
import { watchLanes } from '../src/lanes/lanes.ts';
import { createNodeStatements } from '../src/lanes/node-statements.ts';
import { watchShards } from '../src/shards/watch-shards.ts';

let databaseUrl: string;
let sql: postgres.Sql;
let database: Database;

beforeAll(async () => {
  databaseUrl = await createDatabase(inject('postgresUrl'));
  database = await openPostgres(databaseUrl);
  sql = postgres(databaseUrl);
  const texts = contentColumns.map(({ name }) => `${name}s text`);
  const arrays = contentColumns.map(({ name, type }) => `${name}s::${type}[]`);
  // Simple versions of the functions on a node. These versions write to `plants`, not to the shards.
  await sql.unsafe(`
    create function plant_store_insert(
      key bigint, shards text, counts text, ids text, ${texts.join()}, deadline text)
    returns setof bigint language sql as $$
      insert into plants (id, ${contentColumns.map(({ name }) => name).join()})
      select * from unnest(ids::bigint[], ${arrays.join()})
      on conflict do nothing returning id $$;
    create function plant_store_delete(key bigint, shard text, deadline text)
    returns setof bigint language sql as $$ delete from plants where id = key returning id $$`);
});

afterAll(() => Promise.all([sql.end(), database.close()]));

const free = { from: 0n };
const freeId = () => ++free.from;
const databaseError = (code: string) =>
  Object.assign(new Error('from the node'), { code, severity: 'ERROR' });

/** By the number of the node: a function that runs before each statement. Node 0 is the node in the URL. */
let before: Record<number, () => Promise<unknown> | undefined>;
/** The texts of the statements that each node received, by the number of the node. */
let sent: Record<number, string[]>;
/** The addresses of the nodes that the store has connected to. */
let connectedTo: Set<string>;
/** The errors that the store gets when it connects to a node, by the number of the node. */
let unreachable: Record<number, Error>;
let shards: unknown[][];
let readsOfShards: number;
let finishedReads: number;
let citusVersion: string;
let isDistributed: boolean;
/** How often `noticeCluster` was called. */
let noticed: number;

beforeEach(() => {
  before = {};
  sent = {};
  connectedTo = new Set();
  unreachable = {};
  readsOfShards = 0;
  finishedReads = 0;
  citusVersion = '13.2-1';
  isDistributed = true;
  noticed = 0;
  shards = [
    ['11', -(2 ** 31), -1, 1, 'one:1', true, 'the cluster'],
    ['12', 0, 2 ** 31 - 1, 2, 'two:2', true, 'the cluster'],
  ];
});

/** Runs a statement on a node. All nodes use the same table. */
async function runOn(node: number, text: string, values: Values): Promise<Rows> {
  sent[node] ??= [];
  sent[node].push(text);
  await before[node]?.();
  return database.write(text, values, { share: 'creates', deadline: deadlineIn(60_000) });
}

const connectionTo = (node: number): DatabaseConnection => ({
  isOpen: true,
  query: async (text, values = []) =>
    text.includes('pg_dist_local_group')
      ? { rows: [[node, 'the cluster']], count: 1 }
      : runOn(node, text, values),
  timeOf: () => timeText(Number.POSITIVE_INFINITY),
  cancel: async () => {},
  isCommitting: async () => false,
  close: async () => {},
});

const nodes = {
  connect: async () => connectionTo(0),
  async connectTo(host: string, port: number) {
    connectedTo.add(`${host}:${port}`);
    const error = unreachable[port];
    if (error) throw error;
    return connectionTo(port);
  },
  noticeCluster: () => void noticed++,
};

interface TestLanes extends Pick<StoreLanes, 'laneOf' | 'nodes' | 'ready'> {
  readonly events: EventEmitter<ClusterEvents>;
  /** The sizes of the committed statements. */
  readonly sizes: number[];
  create(plant: { id: bigint; name: string; tag?: string }): Promise<unknown>;
  pending(): unknown[];
  drained(): Promise<unknown>;
  close(): Promise<void>;
}

/** Opens the lanes of a cluster with two nodes. */
function openOnCluster(): TestLanes {
  const events = new EventEmitter<ClusterEvents>();
  const sizes: number[] = [];
  const onCommit = ({ size }: { size: number }) => void sizes.push(size);
  const run: Run = async (text, values) => {
    const hashed = /hashint8\('(.*)'\)/.exec(text)?.[1];
    if (hashed) {
      readsOfShards++;
      const [row] = await sql`select hashint8(${hashed}) as hash`;
      finishedReads++;
      return { rows: [[isDistributed, row?.['hash'], citusVersion]], count: 1 };
    }
    if (text.includes('pg_dist_shard')) return { rows: shards, count: shards.length };
    return runOn(0, text, typeof values === 'function' ? values(timeText(Infinity)) : values);
  };
  const store = { ...database, read: run, write: run };
  const main = createMainLanes(store, onCommit);
  let lanes: StoreLanes = main;
  const use = (next: StoreLanes) => {
    lanes = next;
  };
  const { close } = watchLanes({ database: store, nodes, events, onCommit, main, use });
  onTestFinished(close);
  return {
    events,
    sizes,
    close,
    laneOf: (id) => lanes.laneOf(id),
    create: (plant) => lanes.laneOf(Object(plant).id).create(plant),
    nodes: () => lanes.nodes(),
    ready: () => lanes.ready(),
    pending: () => lanes.all.map((lane) => lane.pending),
    drained: () => Promise.all(lanes.all.map((lane) => lane.drained())),
  };
}

/** Opens the lanes of a cluster, and waits until the lanes know the shards. */
async function openLanes(): Promise<TestLanes> {
  const lanes = openOnCluster();
  await lanes.create({ id: freeId(), name: 'the first one' });
  expect(sent).toEqual({ 0: [ordinaryInsert] });
  await vi.waitFor(() => expect(lanes.nodes()).toHaveLength(2));
  sent = {};
  return lanes;
}

/** Returns a free id whose plant the given node stores. Node 1 stores the ids with a negative hash. */
async function freeIdOn(node: number): Promise<bigint> {
  for (;;) {
    const id = freeId();
    const [row] = await sql`select hashint8(${String(id)}) < 0 as is_first`;
    if (row?.['is_first'] === (node === 1)) return id;
  }
}

const ordinaryInsert = expect.stringContaining('insert into plants');
const insertOnNode = expect.stringContaining('from plant_store_insert(');
const directInsert = expect.stringMatching(/from plant_store_insert\(.*\) where/);
const insertThroughAnother = expect.stringMatching(/from plant_store_insert\([^)]*\)$/);

describe('creates on a cluster', () => {
  it('sends ordinary INSERTs to an untested version of Citus, and warns only once', async () => {
    citusVersion = '14.0-1';
    const lanes = openOnCluster();
    const warnings: string[] = [];
    lanes.events.on('warning', (message) => warnings.push(message));
    await lanes.ready();
    await vi.waitFor(() => expect(warnings).toEqual([expect.stringContaining('Citus 14.0-1')]));
    await lanes.create({ id: freeId(), name: 'Hoya' });
    expect(sent[0]).toContainEqual(ordinaryInsert);
    expect(lanes.nodes()).toEqual([]);
  });

  it('sends creates to the node of the plant as soon as the shards are known', async () => {
    const lanes = await openLanes();
    const [first, second] = [await freeIdOn(1), await freeIdOn(2)];
    expect(await lanes.create({ id: first, name: 'Hoya' })).toEqual({ name: 'Hoya' });
    expect(sent).toEqual({ 1: [insertOnNode] });
    // The types do not allow a number as an id, but internal tools may bypass the types.
    const unsafe = { id: Number(second) as unknown as bigint, name: 'Ficus', tag: 'Moraceae' };
    expect(await lanes.create(unsafe)).toEqual({ name: 'Ficus', tag: 'Moraceae' });
    expect(sent).toEqual({ 1: [insertOnNode], 2: [insertOnNode] });
    expect(connectedTo).toEqual(new Set(['one:1', 'two:2']));
    const stored = await sql`
      select name from plants where id = any (${`{${first},${second}}`}::bigint[]) order by 1`;
    expect(stored).toEqual([{ name: 'Ficus' }, { name: 'Hoya' }]);
    await lanes.create({ id: await freeIdOn(1), name: 'Hoya' });
    expect(sent[1]).toEqual([insertOnNode, directInsert]);
    expect(readsOfShards).toBe(1);
  });

  it('rejects an invalid plant even when no node can store the id', async () => {
    const lanes = await openLanes();
    for (const plant of [null, { id: 1.5, name: 'x' }, { id: '5', name: 'x' }, { name: 'x' }]) {
      const create = lanes.create(plant as never); // Internal tools may bypass the types.
      await expect(create).rejects.toMatchObject({ kind: 'invalidInput' });
    }
    expect(sent).toEqual({});
  });

  it('creates plants on one node while another node hangs, and counts the creates that wait', async () => {
    const lanes = await openLanes();
    const hung = Promise.withResolvers<void>();
    before[1] = () => hung.promise;
    const ids = [await freeIdOn(1), await freeIdOn(1), await freeIdOn(1)];
    const waiting = ids.map((id) => lanes.create({ id, name: 'Hoya' }));
    expect(lanes.pending()).toContainEqual({ waiting: 2, inFlight: 1 });
    expect(await lanes.create({ id: await freeIdOn(2), name: 'Ficus' })).toEqual({ name: 'Ficus' });
    hung.resolve();
    expect(await Promise.all(waiting)).toHaveLength(3);
    expect(lanes.pending()).toEqual(Array(4).fill({ waiting: 0, inFlight: 0 }));
  });

  it('reports the size of each statement, including statements to the nodes', async () => {
    const lanes = await openLanes();
    await lanes.create({ id: await freeIdOn(1), name: 'Hoya' });
    expect(lanes.sizes).toEqual([1, 1]);
  });

  it('sends ordinary statements when the node of the lane has left the cluster', async () => {
    const texts: string[] = [];
    const write: Run = (text, ...rest) => {
      texts.push(text);
      return database.write(text, ...rest);
    };
    const shards = watchShards(async () => ({ rows: [], count: 0 }));
    const access = { ...database, write, isDirect: true };
    const { insert, delete: remove } = createNodeStatements(access, shards);
    const id = freeId();
    expect(await insert([{ id, name: 'Hoya' }], deadlineIn(60_000))).toEqual(new Set([id]));
    expect(await remove(id, { deadline: deadlineIn(60_000) })).toBe(true);
    expect(texts).toEqual([ordinaryInsert, expect.stringContaining('delete from plants')]);
  });

  it('sends ordinary INSERTs when the table is no longer distributed', async () => {
    const lanes = await openLanes();
    const id = await freeIdOn(1);
    await lanes.create({ id, name: 'Hoya' });
    shards = [];
    before[1] = async () => {
      delete before[1];
      throw databaseError('42883');
    };
    await lanes.create({ id: await freeIdOn(1), name: 'Hoya' });
    sent = {};
    await vi.waitFor(() => expect(lanes.nodes()).toEqual([]));
    await lanes.create({ id: await freeIdOn(1), name: 'Hoya' });
    expect(sent).toEqual({ 0: [ordinaryInsert] });
  });

  it('rejects new creates while the lanes drain, and drains only after all earlier creates have settled', async () => {
    const lanes = await openLanes();
    const hung = Promise.withResolvers<void>();
    before[2] = () => hung.promise;
    await lanes.create({ id: await freeIdOn(1), name: 'Hoya' });
    const create = lanes.create({ id: await freeIdOn(2), name: 'Ficus' });
    let isDrained = false;
    const drained = lanes.drained().then(() => {
      isDrained = true;
    });
    const closing = { kind: 'shuttingDown' };
    for (const node of [1, 2]) {
      const late = lanes.create({ id: await freeIdOn(node), name: 'Hoya' });
      await expect(late).rejects.toMatchObject(closing);
    }
    expect(isDrained).toBe(false);
    hung.resolve();
    expect(await create).toEqual({ name: 'Ficus' });
    await drained;
  });
});

describe('a database that becomes a cluster', () => {
  it('does not notice a cluster when the store closes during the first read of the shards', async () => {
    const lanes = openOnCluster();
    await lanes.close();
    expect(finishedReads).toBe(0);
    await vi.waitFor(() => expect(finishedReads).toBe(1));
    await setImmediate(); // An open store would now notice the cluster.
    expect(noticed).toBe(0);
  });

  it('notices a new cluster within half a minute even when nobody uses the store', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    isDistributed = false;
    const lanes = openOnCluster();
    await vi.waitFor(() => expect(finishedReads).toBe(1));
    vi.advanceTimersByTime(15_000);
    await vi.waitFor(() => expect(finishedReads).toBe(2));
    expect(lanes.nodes()).toEqual([]);
    expect(noticed).toBe(0);
    isDistributed = true;
    vi.advanceTimersByTime(15_000);
    await vi.waitFor(() => expect(lanes.nodes()).toHaveLength(2));
    expect(noticed).toBe(1);
    expect(sent).toEqual({});
    await lanes.close();
    vi.advanceTimersByTime(60_000);
    expect(readsOfShards).toBe(3);
  });
});

describe('gets and deletes on a cluster', () => {
  it('reads and deletes on the node that stores the plant', async () => {
    const lanes = await openLanes();
    const id = await freeIdOn(2);
    await lanes.create({ id, name: 'Ficus' });
    sent = {};
    expect(await lanes.laneOf(id).get(id)).toMatchObject({ id, name: 'Ficus' });
    expect(await lanes.laneOf(id).delete(id)).toBe(true);
    expect(await lanes.laneOf(id).delete(id)).toBe(false);
    expect(await lanes.laneOf(id).get(id)).toBeUndefined();
    const select = expect.stringContaining('from plants where id = any');
    const deleteOnNode = expect.stringMatching(/from plant_store_delete\(.*\) where/);
    expect(sent).toEqual({ 2: [select, deleteOnNode, deleteOnNode, select] });
  });

  it('completes the gets and deletes that wait for a connection while their node leaves the cluster', async () => {
    const lanes = await openLanes();
    const ids = await Promise.all([freeIdOn(1), freeIdOn(1), freeIdOn(1)]);
    for (const id of ids) await lanes.create({ id, name: 'Hoya' });
    sent = {};
    const hung = Promise.withResolvers<void>();
    before[1] = () => hung.promise;
    const calls = ids.flatMap((id) => [lanes.laneOf(id).get(id), lanes.laneOf(id).delete(id)]);
    await vi.waitFor(() => expect(sent[1]?.length).toBeGreaterThan(1));
    shards = [['13', -(2 ** 31), 2 ** 31 - 1, 2, 'two:2', true, 'the cluster']];
    before[2] = async () => {
      delete before[2];
      throw databaseError('PS001');
    };
    await lanes.create({ id: await freeIdOn(2), name: 'Ficus' });
    await vi.waitFor(() => expect(lanes.nodes()).toHaveLength(1));
    hung.resolve();
    const results = await Promise.all(calls);
    expect(results.filter((result) => result === true)).toHaveLength(3);
  });
});

describe('the state of the nodes', () => {
  const state = (first: boolean, second: boolean) => [
    { address: 'one:1', share: 0.5, isWritable: first },
    { address: 'two:2', share: 0.5, isWritable: second },
  ];

  it('takes the state of a node from the latest insert, and reports each change of the state once', async () => {
    const lanes = await openLanes();
    const changes: unknown[] = [];
    lanes.events.on('node', (node) => changes.push(node));
    expect(lanes.nodes()).toEqual(state(true, true));
    before[1] = () => Promise.reject(new Error('down'));
    for (let i = 0; i < 2; i++) {
      const create = lanes.create({ id: await freeIdOn(1), name: 'Hoya' });
      await expect(create).rejects.toMatchObject({ code: 50300 });
    }
    await lanes.create({ id: await freeIdOn(2), name: 'Hoya' });
    expect(lanes.nodes()).toEqual(state(false, true));
    before = {};
    await lanes.create({ id: await freeIdOn(1), name: 'Hoya' });
    expect(lanes.nodes()).toEqual(state(true, true));
    expect(changes).toEqual([state(false, true)[0], state(true, true)[0]]);
  });

  /** Ends the distribution of the table, and waits until the store notices. */
  const leaveCluster = async (lanes: TestLanes) => {
    shards = [];
    before[2] = async () => {
      delete before[2];
      throw databaseError('PS001');
    };
    await lanes.create({ id: await freeIdOn(2), name: 'Ficus' });
    await vi.waitFor(() => expect(lanes.nodes()).toEqual([]));
  };

  it('reports no state for a node that has left the cluster', async () => {
    const lanes = await openLanes();
    const changes: unknown[] = [];
    lanes.events.on('node', (node) => changes.push(node));
    const hung = Promise.withResolvers<void>();
    before[1] = () => hung.promise;
    const create = lanes.create({ id: await freeIdOn(1), name: 'Hoya' });
    const failed = expect(create).rejects.toMatchObject({ cause: { message: 'down' } });
    await leaveCluster(lanes);
    hung.reject(new Error('down'));
    await failed;
    expect(changes).toEqual([]);
  });

  it('takes the state of a node from the latest probe', async () => {
    const lanes = openOnCluster();
    const changes: unknown[] = [];
    lanes.events.on('node', (node) => changes.push(node));
    await vi.waitFor(() => expect(lanes.nodes()).toHaveLength(2));
    sent = {};
    before[2] = () => Promise.reject(new Error('down'));
    await lanes.ready();
    expect(lanes.nodes()).toEqual(state(true, false));
    expect(sent).toEqual({
      0: [expect.stringContaining('from plants where false')],
      1: [insertThroughAnother],
      2: [insertThroughAnother],
    });
    before[1] = () => new Promise(() => {});
    before[2] = () => undefined;
    await lanes.ready();
    expect(lanes.nodes()).toEqual(state(false, true));
    const [first] = state(false, true);
    const [, second] = state(true, false);
    expect(changes).toEqual([second, { ...second, isWritable: true }, first]);
  });

  it('reports a detour when creates or probes cannot reach a node directly', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const ofOthers = database;
    database = await openPostgres(databaseUrl);
    onTestFinished(async () => {
      vi.useRealTimers();
      await database.close();
      database = ofOthers;
    });
    const lanes = await openLanes();
    const rerouted: unknown[] = [];
    lanes.events.on('rerouted', (node) => rerouted.push(node));
    const error = databaseError('ENOTFOUND');
    unreachable = { 1: error, 2: error };
    await lanes.create({ id: await freeIdOn(2), name: 'Hoya' });
    expect(sent).toEqual({ 0: [insertThroughAnother] });
    expect(rerouted).toEqual([{ address: 'two:2', error }]);
    await lanes.create({ id: await freeIdOn(2), name: 'Hoya' });
    expect(rerouted).toHaveLength(1);
    await lanes.ready();
    expect(rerouted.slice(1)).toEqual([{ address: 'one:1', error }]);

    vi.advanceTimersByTime(15_001);
    unreachable = {};
    // After 15 s, the store tries again to connect to the nodes.
    await vi.waitFor(async () => {
      await lanes.create({ id: await freeIdOn(1), name: 'Hoya' });
      await lanes.create({ id: await freeIdOn(2), name: 'Hoya' });
      expect(rerouted.slice(2)).toEqual([
        { address: 'one:1', error: undefined },
        { address: 'two:2', error: undefined },
      ]);
    });
    sent = {};
    await lanes.create({ id: await freeIdOn(1), name: 'Hoya' });
    expect(sent).toEqual({ 1: [directInsert] });
  });

  it('reports no detour for a node that has left the cluster', async () => {
    const lanes = await openLanes();
    const rerouted: unknown[] = [];
    lanes.events.on('rerouted', (node) => rerouted.push(node));
    unreachable = { 1: databaseError('ENOTFOUND') };
    const hung = Promise.withResolvers<void>();
    before[0] = () => hung.promise;
    const create = lanes.create({ id: await freeIdOn(1), name: 'Hoya' });
    await vi.waitFor(() => expect(sent[0]).toHaveLength(1));
    await leaveCluster(lanes);
    hung.resolve();
    expect(await create).toEqual({ name: 'Hoya' });
    expect(rerouted).toEqual([]);
  });
});

import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { citus } from '@plant-store/citus';
import { openPlantStore } from '@plant-store/core';
import { explainDatabaseError } from '@plant-store/core/operator';
import { localhostUnknownWhile } from '@plant-store/test-setup';
import { expect, it, onTestFinished, vi } from 'vitest';
import { type StoreOnCluster, startStoreOnCluster } from './store-on-cluster.ts';

/** The longest time for a response, with an allowance for a busy machine. */
const slowest = 5_000 + 1_500;

/** The longest time until the store creates plants again, with an allowance for a busy machine. */
const recoveryTime = 2_000 + 1_000;

/** A call takes less than this many milliseconds, unless the call waits for a silent node. */
const undisturbed = 4_000;

async function start(node = 0, env: Record<string, string> = {}): Promise<StoreOnCluster> {
  const store = await startStoreOnCluster({ node, env });
  onTestFinished(store.stop);
  return store;
}

/** The time limit of each check after the worker has recovered. */
const within = { timeout: 5_000 };

const readiness = async ({ url }: StoreOnCluster) => (await fetch(`${url}/readyz`)).json();

/** Functions that stop the second worker. Each function returns a function that starts the worker again. */
const ways = {
  'is killed': async ({ cluster }: StoreOnCluster) => {
    const worker = cluster.workers[1]?.server;
    await worker?.halt();
    return async () => worker?.start();
  },
  'is frozen': async ({ cluster }: StoreOnCluster) => {
    const unfreeze = await cluster.workers[1]?.server.freeze();
    onTestFinished(() => unfreeze?.()); // The cluster cannot stop while a worker is frozen.
    return unfreeze;
  },
};

it.for(Object.entries(ways))(
  'calls for the plants of the first worker succeed when the second worker %s',
  async ([, makeFail]) => {
    const store = await start();
    const [first, second] = store.loads;
    const [firstId, secondId] = store.loads.map(({ seen }) => seen.acknowledged[0]?.id);
    const before = second.seen.acknowledged.length;
    const send = async (path: string, { method = 'GET', bearer = store.token } = {}) => {
      const headers = { authorization: `Bearer ${bearer}` };
      const response = await fetch(`${store.url}${path}`, { method, headers });
      await response.arrayBuffer();
      return response.status;
    };
    const sendUndisturbed = async (...call: Parameters<typeof send>) => {
      const sentAt = performance.now();
      const status = await send(...call);
      expect(performance.now() - sentAt, call[0]).toBeLessThan(undisturbed);
      return status;
    };

    const bringBack = await makeFail(store);
    const pause = setTimeout(8_000);
    // The number of statements is larger than the number of the server's connections.
    const disturbed = Array.from({ length: 20 }, () => [
      send(`/plants/${secondId}`),
      send(`/plants/${store.spareId(2)}`, { method: 'DELETE' }),
      send('/plants?limit=3'),
    ]).flat();
    let isOver = false;
    const statuses = Promise.all(disturbed).finally(() => {
      isOver = true;
    });
    do {
      expect(await sendUndisturbed(`/plants/${firstId}`)).toBe(200);
      const remove = { method: 'DELETE' };
      expect(await sendUndisturbed(`/plants/${store.spareId(1)}`, remove)).toBe(404);
      expect(await sendUndisturbed('/plants/1', { bearer: randomUUID() })).toBe(401);
      expect(await sendUndisturbed('/readyz')).toBe(200);
    } while (!isOver);
    expect(new Set(await statuses)).toEqual(new Set([503]));

    await pause;
    expect(await readiness(store)).toEqual({ status: 'ready', unwritable: 0.5 });
    expect(first.seen.outcomes).toEqual({ 200: first.seen.acknowledged.length });
    expect(first.seen.slowest).toBeLessThan(undisturbed);
    expect(second.seen.outcomes['503 50300']).toBeGreaterThan(0);
    // Another instance starts while the worker is down.
    const other = await openPlantStore({ databaseUrl: store.databaseUrl, cluster: citus });
    await other.ready();
    const sentAt = performance.now();
    // Without our setting, the cluster waits 30 s for a silent node.
    for (const error of await Promise.all([
      other.count().catch(explainDatabaseError),
      other.accessTokens.revoke('nobody').catch(explainDatabaseError),
    ])) {
      expect(error).toMatch(/^a node of the cluster did not respond \(.*127\.0\.0\.1:\d+/);
    }
    expect(performance.now() - sentAt).toBeLessThan(10_000);
    await other.close();
    await bringBack?.();
    const recovered = await second.acknowledged(8); // The load has eight clients.

    await expect.poll(() => readiness(store), within).toEqual({ status: 'ready' });
    for (const line of [
      'the plants of a node cannot be written',
      'the plants of a node can be written again',
    ]) {
      await expect.poll(store.log, within).toContain(line);
    }
    expect(second.seen.acknowledged.length).toBeGreaterThan(before);
    expect(second.seen.slowest).toBeLessThan(slowest);
    expect(recovered).toBeLessThan(recoveryTime);
    await store.expectAllStored();
  },
);

it('a server that uses a worker creates plants after the coordinator is killed', async () => {
  const store = await start(1);
  const { server } = store.cluster.coordinator;
  await server.halt();
  await Promise.all(store.loads.map((load) => load.acknowledged(200)));
  expect(await readiness(store)).toEqual({ status: 'ready' });
  await server.start();
  for (const { seen } of store.loads)
    expect(seen.outcomes).toEqual({ 200: seen.acknowledged.length });
  await store.expectAllStored();
});

it('no plant is lost when shards are moved under load', async () => {
  const store = await start();
  const { admin } = store;
  const moves = await admin<{ shardid: string; source: number; target: number }[]>`
    select shardid::text, source.nodeport as source, target.nodeport as target
    from pg_dist_placement
      join pg_dist_node source using (groupid)
      join pg_dist_node target on target.groupid = 2
      join pg_dist_shard using (shardid)
    where source.groupid = 1 and logicalrelid = 'plants'::regclass`;
  for (const { shardid, source, target } of moves.slice(0, 2)) {
    await admin`
      select citus_move_shard_placement(${shardid}::bigint, '127.0.0.1', ${source}, '127.0.0.1',
        ${target}, 'force_logical')`;
  }
  await Promise.all(store.loads.map((load) => load.acknowledged(100)));
  for (const { seen } of store.loads) expect(seen.slowest).toBeLessThan(slowest);
  await store.expectAllStored();
});

it('the server creates plants after the address of a worker has changed', async () => {
  const store = await start();
  const { server, proxy } = store.cluster.workers[1] ?? {};
  if (!server || !proxy) throw new Error('the cluster has two workers with a proxy each');
  const [before, after] = [proxy.url, server.url].map((url) => Number(new URL(url).port));
  await store.admin`
    select citus_update_node(nodeid, nodename, ${after ?? 0}::int)
    from pg_dist_node where nodeport = ${before ?? 0}::int`;
  proxy.fault = 'refuse';
  await Promise.all(store.loads.map((load) => load.acknowledged(100)));
  await store.expectAllStored();
});

it('the server creates plants even when the server cannot resolve the name of a worker', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-names-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const isUnknown = join(directory, 'unknown');
  await writeFile(isUnknown, '');
  const store = await start(0, { NODE_OPTIONS: localhostUnknownWhile(isUnknown) });
  await store.admin`
    select citus_update_node(nodeid, 'localhost', nodeport) from pg_dist_node where groupid = 2`;
  const { port } = new URL(store.cluster.workers[1]?.proxy?.url ?? '');
  const node = `localhost:${port}`;

  // Every 15 s, the server reads the addresses of the nodes, and tries to reach the second worker.
  const logged = (level: number) =>
    vi.waitFor(() => {
      const lines = store
        .log()
        .split('\n')
        .filter((line) => line.includes(node));
      expect(lines.map((line) => JSON.parse(line))).toContainEqual(
        expect.objectContaining({ level, node }),
      );
      return lines;
    }, 40_000);
  const [line = ''] = await logged(40);
  expect(JSON.parse(line)).toMatchObject({
    err: { code: 'ENOTFOUND' },
    msg: expect.stringContaining('check the address of the node in pg_dist_node'),
  });
  await store.loads[1].acknowledged(100);
  expect(await readiness(store)).toEqual({ status: 'ready' });
  await rm(isUnknown);
  expect(await logged(30)).toHaveLength(2);
  await store.expectAllStored();
});

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import postgres from 'postgres';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  allPlants,
  createPlantStoreClient,
  type FollowPlantsOptions,
  followPlants,
  plantStoreError,
  type StoredPlant,
} from '../src/index.ts';
import { client, databaseUrl, startProxyTo, token, url, useServer } from './fixtures/server.ts';

useServer();

beforeEach(async () => {
  for await (const { id } of allPlants(client)) await client.deletePlant.mutate({ id });
  for (const id of [5n, -3n]) await create(id);
});

const create = (id: bigint, tag?: string) =>
  client.createPlant.mutate({ id, name: `Plant ${id}`, ...(tag && { tag }) });

/** Follows the plants, and collects the ids of each list that `onPlants` receives. */
function follow(
  store: Parameters<typeof followPlants>[0],
  options: Partial<FollowPlantsOptions> = {},
) {
  const copies: bigint[][] = [];
  const onPlants = (plants: StoredPlant[]) => copies.push(plants.map(({ id }) => id));
  const stop = followPlants(store, { onPlants, ...options });
  onTestFinished(stop);
  return {
    copies,
    stop,
    shows: (...ids: bigint[]) => vi.waitFor(() => expect(copies.at(-1)).toEqual(ids)),
  };
}

/** Calls a function after the server has responded, and before the client receives the response. */
function beforeResponse(procedure: string, then: () => Promise<unknown>): void {
  const { fetch } = globalThis;
  const spy = vi.spyOn(globalThis, 'fetch').mockImplementation(async (...request) => {
    const response = await fetch(...request);
    if (!String(request[0]).includes(`/trpc/${procedure}?`)) return response;
    spy.mockRestore();
    await then();
    return response;
  });
  onTestFinished(() => spy.mockRestore());
}

it('shows the plants ascending by id, and shows each change', async () => {
  const { shows } = follow(client);
  await shows(-3n, 5n);
  await create(9007199254740993n);
  await shows(-3n, 5n, 9007199254740993n);
  await client.deletePlant.mutate({ id: -3n });
  await shows(5n, 9007199254740993n);
});

it('shows only the plants with the given tag', async () => {
  await create(1n, 'Araceae');
  const { shows } = follow(client, { tag: 'Araceae' });
  await shows(1n);
  await create(2n);
  await create(3n, 'Araceae');
  await shows(1n, 3n);
});

const replaceInTurn = async (id: bigint, tag: string) => {
  await client.deletePlant.mutate({ id });
  await client.createPlant.mutate({ id, name: 'the new plant', tag });
};

/** The feed omits the delete, because the transaction that creates the new plant begins before the delete. */
const replaceWithoutDelete = async (id: bigint, tag: string) => {
  const sql = postgres(databaseUrl);
  await sql.begin(async (transaction) => {
    await transaction`select pg_current_xact_id()`;
    await client.deletePlant.mutate({ id });
    await transaction`insert into plants (id, name, tag) values (${String(id)}, 'the new plant', ${tag})`;
  });
  await sql.end();
};

it.each([
  ['another tag', 'with', replaceInTurn, 'another', []],
  ['another tag', 'without', replaceWithoutDelete, 'another', []],
  ['the same tag', 'with', replaceInTurn, 'Araceae', ['the new plant']],
  ['the same tag', 'without', replaceWithoutDelete, 'Araceae', ['the new plant']],
])(
  'has the new plant after a replacement by a plant with %s (%s a delete in the feed)',
  async (_, __, replace, tag, shown) => {
    await create(1n, 'Araceae');
    const onPlants = vi.fn<FollowPlantsOptions['onPlants']>();
    follow(client, { tag: 'Araceae', onPlants });
    const shows = (...names: string[]) =>
      vi.waitFor(() => expect(onPlants.mock.lastCall?.[0].map(({ name }) => name)).toEqual(names));
    await shows('Plant 1');
    await replace(1n, tag);
    await create(2n, 'Araceae');
    await shows(...shown, 'Plant 2');
  },
);

it('shows the changes that happen while the client reads the list', async () => {
  const changes = async () => {
    await create(7n);
    await client.deletePlant.mutate({ id: -3n });
  };
  beforeResponse('listPlants', changes);
  await follow(client).shows(5n, 7n);
});

it('shows the changes that happen after the client reads the cursor and before the client reads the list', async () => {
  const changes = async () => {
    await create(7n);
    await client.deletePlant.mutate({ id: 7n });
    await create(7n, 'a second time');
    await client.deletePlant.mutate({ id: -3n });
    await create(8n);
  };
  beforeResponse('listPlantChanges', changes);
  const { copies, shows } = follow(client);
  await vi.waitFor(() => expect(copies.length).toBeGreaterThan(1));
  await shows(5n, 7n, 8n);
});

it('lists the plants again when the cursor has expired', async () => {
  const ofAnotherDatabase = btoa('0123456789abcdef 813').replaceAll('=', '');
  const cursors = vi
    .fn(client.listPlantChanges.query)
    .mockResolvedValueOnce({ changes: [], next: ofAnotherDatabase });
  const { listPlants, plantChanges } = client;
  const { copies, shows } = follow({
    listPlants,
    plantChanges,
    listPlantChanges: { query: cursors },
  });
  await vi.waitFor(() => expect(copies.length).toBeGreaterThan(1));
  await create(6n);
  await shows(-3n, 5n, 6n);
  expect(cursors.mock.calls.length).toBeGreaterThan(1);
});

it('waits while the store is down, and continues after a lost connection', async () => {
  const proxy = await startProxyTo(url);
  proxy.fault = 'refuse';
  const { shows } = follow(createPlantStoreClient({ url: proxy.url, token }));
  await vi.waitFor(() => expect(proxy.accepted).toBeGreaterThan(1));
  proxy.fault = 'none';
  await shows(-3n, 5n);
  proxy.fault = 'refuse';
  await create(6n);
  proxy.fault = 'none';
  await shows(-3n, 5n, 6n);
});

describe('on a platform that cannot read a stream', () => {
  it('shows each change although the response of a stream has no body', async () => {
    const fetch = async (...request: Parameters<typeof globalThis.fetch>) => {
      const response = await globalThis.fetch(...request);
      const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
      return isStream ? Object.defineProperty(response, 'body', { value: undefined }) : response;
    };
    const { shows } = follow(createPlantStoreClient({ url, token, fetch }));
    await shows(-3n, 5n);
    await create(6n);
    await shows(-3n, 5n, 6n);
  });

  it('never requests a stream, because the response would arrive only after a minute', async () => {
    vi.stubGlobal('Response', class {});
    onTestFinished(() => void vi.unstubAllGlobals());
    const fetch = vi.spyOn(globalThis, 'fetch');
    onTestFinished(() => fetch.mockRestore());
    const { shows } = follow(client);
    await shows(-3n, 5n);
    await create(6n);
    await shows(-3n, 5n, 6n);
    const addresses = fetch.mock.calls.map(([address]) => String(address));
    expect(addresses.filter((address) => address.includes('plantChanges'))).toEqual([]);
  });
});

it('reports a permanent error', async () => {
  const stranger = createPlantStoreClient({ url, token: 'unknown' });
  const error = await new Promise((onError) => void follow(stranger, { onError }));
  expect(plantStoreError(error)).toMatchObject({ kind: 'tokenInvalid' });
});

it('shows nothing when the caller stops followPlants before the client has read an empty list', async () => {
  const tag = 'of no plant';
  const stopped = Promise.withResolvers<void>();
  beforeResponse('listPlants', async () => stopped.resolve(stop()));
  const { copies, stop } = follow(client, { tag });
  await stopped.promise;
  const later = follow(client, { tag });
  await later.shows();
  expect(copies).toEqual([]);
});

it('closes the connection when the caller stops followPlants', async () => {
  const proxy = await startProxyTo(url);
  const onError = vi.fn();
  const { listPlants, listPlantChanges } = client;
  const { plantChanges } = createPlantStoreClient({ url: proxy.url, token });
  const { shows, stop } = follow({ listPlants, listPlantChanges, plantChanges }, { onError });
  await shows(-3n, 5n);
  await vi.waitFor(() => expect(proxy.open).toBeGreaterThan(0));
  stop();
  await vi.waitFor(() => expect(proxy.open).toBe(0));
  expect(onError).not.toHaveBeenCalled();
});

describe('after somebody has switched the feed off', () => {
  const off = (sql: postgres.Sql) => sql`delete from plant_feed`;
  const on = (sql: postgres.Sql) => sql`insert into plant_feed default values`;
  let sql: postgres.Sql;

  beforeEach(() => {
    sql = postgres(databaseUrl);
    return async () => {
      await off(sql);
      await on(sql);
      await sql.end();
    };
  });

  it('continues when the feed is on again', async () => {
    const onError = vi.fn();
    const { shows } = follow(client, { onError });
    await shows(-3n, 5n);
    const errors = countErrors('listPlantChanges', 501);
    await off(sql);
    await vi.waitFor(() => expect(errors()).toBeGreaterThan(1));
    await client.deletePlant.mutate({ id: 5n });
    await on(sql);
    await shows(-3n);
    expect(onError).not.toHaveBeenCalled();
  });

  it('reports the error when the feed stays off for five minutes, or was off at the start', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const onError = vi.fn<(error: unknown) => void>();
    const { shows } = follow(client, { onError });
    await shows(-3n, 5n);
    const errors = countErrors('listPlantChanges', 501);
    await off(sql);
    await vi.waitFor(() => expect(errors()).toBeGreaterThan(0));
    expect(onError).not.toHaveBeenCalled();
    vi.setSystemTime(Date.now() + 301_000);
    await vi.waitFor(() => expect(onError).toHaveBeenCalledOnce());
    const error = await new Promise((onError) => void follow(client, { onError }));
    for (const each of [error, onError.mock.lastCall?.[0]])
      expect(plantStoreError(each)).toMatchObject({ code: 50100 });
  });
});

function countErrors(procedure: string, status: number): () => number {
  const { fetch } = globalThis;
  let count = 0;
  const spy = vi.spyOn(globalThis, 'fetch').mockImplementation(async (...request) => {
    const response = await fetch(...request);
    if (String(request[0]).includes(procedure) && response.status === status) count++;
    return response;
  });
  onTestFinished(() => spy.mockRestore());
  return () => count;
}

it('turns an error into an unhandled rejection when there is no onError', async () => {
  const file = fileURLToPath(new URL('../src/index.ts', import.meta.url));
  const program = `
    import { createPlantStoreClient, followPlants } from ${JSON.stringify(file)};
    followPlants(createPlantStoreClient({ url: ${JSON.stringify(url)}, token: 'unknown' }), { onPlants() {} });`;
  const run = promisify(execFile)(process.execPath, [
    '--input-type=module-typescript',
    '-e',
    program,
  ]);
  await expect(run).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the access token is unknown'),
  });
});

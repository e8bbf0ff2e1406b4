import { type IncomingMessage, request } from 'node:http';
import { inspect } from 'node:util';
import { freePort } from '@plant-store/test-setup';
import { describe, expect, it, vi } from 'vitest';
import {
  allPlants,
  createPlantStoreClient,
  isRetryable,
  type PlantStoreClient,
  plantStoreError,
} from '../src/index.ts';
import {
  client,
  listen,
  startProxyTo,
  thrownBy,
  token,
  url,
  useServer,
} from './fixtures/server.ts';

useServer();

type Options = Partial<Parameters<typeof createPlantStoreClient>[0]>;

let lastId = 0n;
const newPlant = () => ({ id: ++lastId, name: `Plant ${lastId}` });

const clientOf = (proxy: { url: string }, options: Options = {}) =>
  createPlantStoreClient({ url: proxy.url, token, ...options });

const errorOf = async (call: Promise<unknown>) => plantStoreError(await thrownBy(call));

/** A response that the proxy sends without a request to the server. */
interface Rejection {
  status: number;
  headers?: Record<string, string>;
  body?: string;
}

/** Starts a proxy that responds to the first requests itself, and forwards the later requests. */
async function startProxy(...rejections: Rejection[]) {
  const requests: IncomingMessage[] = [];
  const address = await listen((incoming, outgoing) => {
    requests.push(incoming);
    const rejection = rejections.shift();
    if (rejection) {
      outgoing.writeHead(rejection.status, rejection.headers).end(rejection.body ?? 'try later');
      return;
    }
    const { method, headers } = incoming;
    const forwarded = request(`${url}${incoming.url}`, { method, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 500, response.headers);
      response.pipe(outgoing);
    });
    incoming.pipe(forwarded);
  });
  return { url: address, requests };
}

const down = { status: 502 };
const json = { 'content-type': 'application/json' };
const data = { error: 50301, httpStatus: 503, code: 'SERVICE_UNAVAILABLE' };
const overloaded = (headers?: Record<string, string>): Rejection => ({
  status: 503,
  headers: { ...json, ...headers },
  body: JSON.stringify({ error: { json: { message: 'try later', code: -32603, data } } }),
});

describe('concurrent calls', () => {
  it('share requests, and keep ids beyond 2^53 exact', async () => {
    const proxy = await startProxy();
    const { createPlant } = clientOf(proxy);
    const ids = Array.from({ length: 25 }, (_, i) => 9007199254740993n + BigInt(i));
    const plant = { name: 'Monstera deliciosa', tag: 'Araceae' };
    const created = await Promise.all(ids.map((id) => createPlant.mutate({ id, ...plant })));
    expect(created).toEqual(ids.map(() => plant));
    expect(proxy.requests).toHaveLength(3);
    const stored = await Array.fromAsync(allPlants(client, { tag: 'Araceae' }));
    expect(stored.map(({ id }) => id)).toEqual(ids);
  });

  it('get their responses while another call waits for changes', async () => {
    const { next: after } = await client.listPlantChanges.query();
    const waiting = client.listPlantChanges.query({ after, wait: 20 });
    const [whoAmI] = await Promise.all([client.whoAmI.query(), client.countPlants.query()]);
    expect(whoAmI).toMatchObject({ name: 'environment' });
    await client.createPlant.mutate(newPlant());
    // A change of an earlier test may become visible late, so the response may contain that change, too.
    expect((await waiting).changes).not.toEqual([]);
  });
});

it.each(['/', '/trpc', '/trpc/'])('the URL of the store may end with %s', async (end) => {
  const { whoAmI } = createPlantStoreClient({ url: `${url}${end}`, token });
  expect(await whoAmI.query()).toMatchObject({ name: 'environment' });
});

describe('the access token', () => {
  it('may come from a function, which each request calls', async () => {
    const tokens = ['expired', token];
    const { createPlant } = createPlantStoreClient({ url, token: () => tokens.shift() ?? '' });
    const plant = newPlant();
    expect(await errorOf(createPlant.mutate(plant))).toMatchObject({ code: 40101 });
    expect(await createPlant.mutate(plant)).toEqual({ name: plant.name });
  });

  it.each([
    ['', 'tokenMissing'],
    ['secret\nsecret', 'tokenInvalid'],
    ['secret🌻', 'tokenInvalid'],
  ])(
    'with the value %j causes an error of the store, which does not show the value',
    async (token, kind) => {
      const thrown = await thrownBy(createPlantStoreClient({ url, token }).whoAmI.query());
      expect(plantStoreError(thrown)).toMatchObject({ kind });
      expect(inspect(thrown, { depth: null })).not.toContain('secret');
    },
  );
});

describe('plantStoreError', () => {
  it('returns the kind, the code and the message of an error', async () => {
    await client.createPlant.mutate({ id: -2, name: 'x' });
    expect(await errorOf(client.createPlant.mutate({ id: -2, name: 'y' }))).toEqual({
      kind: 'idTaken',
      code: 40900,
      message: 'id -2 belongs to another plant: choose an id that is free',
    });
  });

  it('returns the messages for each invalid field', async () => {
    expect(await errorOf(client.createPlant.mutate({ id: 1.5, name: '\0' }))).toMatchObject({
      kind: 'invalidInput',
      code: 40001,
      fields: {
        id: ['must be an integer from -9223372036854775808 to 9223372036854775807'],
        name: ['must not contain U+0000 or a lone surrogate'],
      },
    });
  });

  it('says after a network error that the store did not respond', async () => {
    const nowhere = { url: `http://127.0.0.1:${await freePort()}` };
    const { createPlant } = clientOf(nowhere, { retry: false });
    expect(await errorOf(createPlant.mutate(newPlant()))).toEqual({
      kind: 'noResponse',
      message:
        'the plant store did not respond: check its address and the network, and try again ' +
        `(fetch failed: connect ECONNREFUSED ${new URL(nowhere.url).host})`,
    });
  });

  it.each([
    [{ 'content-type': 'text/html' }, '<h1>Bad gateway</h1>'],
    [{}, ''],
    [json, '{"message":"Bad gateway"}'],
  ])('names the status of a proxy with the headers %j and the body "%s"', async (headers, body) => {
    const proxy = await startProxy({ ...down, headers, body });
    expect(await errorOf(clientOf(proxy, { retry: false }).whoAmI.query())).toMatchObject({
      kind: 'noResponse',
      status: 502,
      message: expect.stringContaining(': HTTP 502)'),
    });
  });

  it('returns undefined for an aborted call, and for a value that no call threw', async () => {
    const proxy = await startProxy(...Array.from({ length: 9 }, () => down));
    const controller = new AbortController();
    const call = clientOf(proxy).whoAmI.query({}, { signal: controller.signal });
    await vi.waitFor(() => expect(proxy.requests.length).toBeGreaterThan(0));
    controller.abort();
    const aborted = await thrownBy(call);
    expect(isRetryable(aborted)).toBe(false);
    const before = await thrownBy(client.whoAmI.query({}, { signal: AbortSignal.abort() }));
    for (const thrown of [aborted, before, new Error('a bug'), 'text', undefined]) {
      expect(plantStoreError(thrown)).toBeUndefined();
    }
  });
});

it('the client does not send a call whose signal is already aborted, even in a batch with other calls', async () => {
  const [plant, other] = [newPlant(), newPlant()];
  const aborted = client.createPlant.mutate(plant, { signal: AbortSignal.abort() });
  const [thrown] = await Promise.all([thrownBy(aborted), client.createPlant.mutate(other)]);
  expect(plantStoreError(thrown)).toBeUndefined();
  expect(plantStoreError(await thrownBy(client.getPlant.query({ id: plant.id })))).toMatchObject({
    kind: 'plantUnknown',
  });
});

it('a call ends at its time limit', async () => {
  const proxy = await startProxyTo(url);
  proxy.fault = 'blackhole';
  const thrown = await thrownBy(clientOf(proxy, { timeout: 300 }).listPlants.query());
  expect(plantStoreError(thrown)).toMatchObject({
    kind: 'noResponse',
    message: expect.stringContaining('(no response within 0.3 seconds)'),
  });
  expect(isRetryable(thrown)).toBe(true);
});

describe('the client', () => {
  const calls: [string, (client: PlantStoreClient) => Promise<unknown>][] = [
    ['a query', (client) => client.listPlants.query()],
    ['a create', (client) => client.createPlant.mutate(newPlant())],
    ['a batch', (client) => client.createPlants.mutate({ plants: [newPlant()] })],
  ];

  it.each(calls)('repeats %s after temporary errors', async (_, call) => {
    const page = { status: 200, headers: { 'content-type': 'text/html' }, body: 'Back soon' };
    const proxy = await startProxy(down, page, overloaded());
    await call(clientOf(proxy));
    expect(proxy.requests).toHaveLength(4);
  });

  it('repeats a create whose response was lost', async () => {
    const proxy = await startProxyTo(url);
    const lost = proxy.loseResponse('Lost');
    const plant = { ...newPlant(), name: 'Lost' };
    expect(await clientOf(proxy).createPlant.mutate(plant)).toEqual({ name: 'Lost' });
    await lost;
  });

  it('never repeats a delete, and reports that a repeat is not safe', async () => {
    const proxy = await startProxy(down, down);
    const thrown = await thrownBy(clientOf(proxy).deletePlant.mutate({ id: 1n }));
    expect(plantStoreError(thrown)?.message).toContain('it may be deleted: look first (');
    expect(isRetryable(thrown)).toBe(false);
    expect(proxy.requests).toHaveLength(1);
  });

  it.each([
    ['when Retry-After is longer than the time limit', overloaded({ 'retry-after': '60' }), {}],
    ['when the option retry is false', down, { retry: false }],
  ])('does not repeat a call %s', async (_, rejection, options) => {
    const proxy = await startProxy(rejection);
    const thrown = await thrownBy(clientOf(proxy, options).listPlants.query());
    expect(isRetryable(thrown)).toBe(true);
    expect(proxy.requests).toHaveLength(1);
  });

  it('does not repeat a call after a permanent error', async () => {
    const proxy = await startProxy();
    const thrown = await thrownBy(clientOf(proxy, { token: 'unknown' }).listPlants.query());
    expect(isRetryable(thrown)).toBe(false);
    expect(proxy.requests).toHaveLength(1);
  });
});

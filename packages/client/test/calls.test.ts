import { type IncomingMessage, request } from 'node:http';
import type { FaultProxy } from '@plant-store/test-setup';
import { describe, expect, it } from 'vitest';
import {
  createPlantStoreClient,
  isRetryable,
  type PlantStoreClient,
  plantStoreError,
} from '../src/index.ts';
import { listen, startProxyTo, thrownBy, token, url, useServer } from './fixtures/server.ts';

useServer();

type Options = Partial<Parameters<typeof createPlantStoreClient>[0]>;

let lastId = 0n;
const newPlant = () => ({ id: ++lastId, name: `Plant ${lastId}` });

/** An error response of the proxy. The proxy does not forward this request to the server. */
interface Rejection {
  status: number;
  headers?: Record<string, string>;
  body?: string;
}

/** Starts a proxy that responds to the first requests with errors, and forwards the later requests. */
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

async function startFaults(fault: FaultProxy['fault'], options: Options) {
  const proxy = await startProxyTo(url);
  proxy.fault = fault;
  return { proxy, client: createPlantStoreClient({ url: proxy.url, token, ...options }) };
}

const clientOf = (proxy: { url: string }, options: Options = {}) =>
  createPlantStoreClient({ url: proxy.url, token, ...options });

const down = { status: 502 };
const overloaded = { error: 50301, httpStatus: 503, code: 'SERVICE_UNAVAILABLE' };
const rejectedBy = (data: object, headers?: Record<string, string>): Rejection => ({
  status: 503,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify({ error: { json: { message: 'try later', code: -32603, data } } }),
});

describe('the time limit of a call', () => {
  it('throws a timeout error for a call without a response, but not for an aborted call', async () => {
    const { proxy, client } = await startFaults('blackhole', { timeout: 300 });
    const thrown = await thrownBy(client.listPlants.query());
    expect(plantStoreError(thrown)).toEqual({
      kind: 'timeout',
      code: undefined,
      message: expect.stringContaining('(no response within 0.3 seconds)'),
    });
    expect(isRetryable(thrown)).toBe(true);
    const unlimited = createPlantStoreClient({ url: proxy.url, token, timeout: Infinity });
    const signal = AbortSignal.timeout(10);
    const late = await thrownBy(unlimited.listPlants.query({}, { signal }));
    expect(plantStoreError(late)).toMatchObject({ kind: 'timeout' });
    const aborted = await thrownBy(
      client.listPlants.query({}, { signal: AbortSignal.abort('the user left') }),
    );
    expect(plantStoreError(aborted)).toBeUndefined();
    expect(isRetryable(aborted)).toBe(false);
  });
});

describe('a retry', () => {
  type Call = (client: PlantStoreClient) => Promise<unknown>;
  const calls: [string, Call][] = [
    ['a query', (client) => client.listPlants.query()],
    ['a create', (client) => client.createPlant.mutate(newPlant())],
    ['a batch', (client) => client.createPlants.mutate({ plants: [newPlant()] })],
  ];

  it.each(calls)('repeats %s after temporary errors', async (_, call) => {
    const proxy = await startProxy(down, rejectedBy(overloaded));
    await call(clientOf(proxy));
    expect(proxy.requests).toHaveLength(3);
  });

  it('repeats a create whose response was lost', async () => {
    const { proxy, client } = await startFaults('none', {});
    const lost = proxy.loseResponse('Lost');
    expect(await client.createPlant.mutate({ ...newPlant(), name: 'Lost' })).toEqual({
      name: 'Lost',
    });
    await lost;
  });

  it('never repeats a delete, and reports that a repeat is not safe', async () => {
    const proxy = await startProxy(down, down);
    const client = clientOf(proxy);
    const thrown = await thrownBy(client.deletePlant.mutate({ id: 1n }));
    expect(plantStoreError(thrown)).toMatchObject({
      kind: 'noResponse',
      message: expect.stringContaining('it may be deleted: look first (HTTP 502'),
    });
    expect(isRetryable(thrown)).toBe(false);
    expect(proxy.requests).toHaveLength(1);
  });

  it('throws the error of the store when Retry-After is longer than the time limit', async () => {
    const proxy = await startProxy(rejectedBy(overloaded, { 'retry-after': '60' }));
    const thrown = await thrownBy(clientOf(proxy).listPlants.query());
    expect(plantStoreError(thrown)).toMatchObject({ kind: 'overloaded' });
    expect(isRetryable(thrown)).toBe(true);
    expect(proxy.requests).toHaveLength(1);
  });

  it('repeats no call after a permanent error', async () => {
    const proxy = await startProxy();
    const rejected = clientOf(proxy, { token: 'unknown' }).listPlants.query();
    expect(plantStoreError(await thrownBy(rejected))).toMatchObject({ kind: 'tokenInvalid' });
    expect(proxy.requests).toHaveLength(1);
  });

  it('repeats no call when the option retry is false', async () => {
    const proxy = await startProxy(down);
    const thrown = await thrownBy(clientOf(proxy, { retry: false }).listPlants.query());
    expect(isRetryable(thrown)).toBe(true);
    expect(proxy.requests).toHaveLength(1);
  });
});

describe('concurrent calls', () => {
  it('calls get their responses while another call waits for changes', async () => {
    const client = createPlantStoreClient({ url, token });
    const { next: after } = await client.listPlantChanges.query();
    const waiting = client.listPlantChanges.query({ after, wait: 20 });
    const [whoAmI] = await Promise.all([client.whoAmI.query(), client.countPlants.query()]);
    expect(whoAmI).toMatchObject({ name: 'environment' });
    await client.createPlant.mutate(newPlant());
    // A change of an earlier test may become visible late, so the response may also contain that change.
    expect((await waiting).changes).not.toEqual([]);
  });
});

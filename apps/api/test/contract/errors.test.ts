import { setTimeout } from 'node:timers/promises';
import { type ErrorKind, errorCatalogue, errorKinds, httpStatus } from '@plant-store/schemas';
import { runSql } from '@plant-store/test-setup';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { documentOf, type ReceivedResponse } from '../fixtures/document.ts';
import { jwtSettings, startIdentityProvider } from '../fixtures/identity-provider.ts';
import { close, rawRequest, sendRaw } from '../fixtures/raw-request.ts';
import { lockPlants, shareServer, startForTest, type Target } from '../fixtures/server.ts';
import { post, surfaces, tokenWith } from '../fixtures/surfaces.ts';

const server = shareServer();
const plant = '{"id":1,"name":"Monstera deliciosa"}';

const read = async (sent: Promise<Response>): Promise<ReceivedResponse> => {
  const response = await sent;
  return { status: response.status, headers: response.headers, body: await response.text() };
};
const create = (json = plant, headers: Record<string, string> = {}, target: Target = server) =>
  read(post(target, '/plants', json, headers));
const send = (method: string, path: string, token = server.token) =>
  read(fetch(server.url + path, { method, headers: { authorization: `Bearer ${token}` } }));
const raw = (text: string) => sendRaw(server.url, text);

/** A cursor of another database. */
const otherCursor = Buffer.from('0123456789abcdef 1').toString('base64url');

/** Each function causes one error of the catalogue, and returns the response. */
const causes: Partial<Record<ErrorKind, () => Promise<ReceivedResponse>>> = {
  bodyNotJson: () => create(''),
  invalidInput: () => create('{"id":1.5}'),
  malformedRequest: () => raw(rawRequest('GET /%zz', [close])),
  tokenMissing: () => create(plant, { authorization: '' }),
  tokenInvalid: () => create(plant, { authorization: 'Bearer guess' }),
  insufficientScope: async () =>
    send('DELETE', '/plants/1', await tokenWith(server, ['plants:read'])),
  pathUnknown: () => send('GET', '/plant'),
  plantUnknown: () => send('DELETE', '/plants/404'),
  accessTokenUnknown: () => send('DELETE', '/access-tokens/5f70bf18a0860070'),
  webhookUnknown: () => send('DELETE', '/webhooks/unknown'),
  methodNotAllowed: () => send('PATCH', '/plants'),
  idTaken: async () => {
    await create();
    return create('{"id":1,"name":"Ficus lyrata"}');
  },
  webhookNameTaken: async () => {
    const webhook = '{"url":"https://1.1.1.1/","name":"taken"}';
    await post(server, '/webhooks', webhook);
    return read(post(server, '/webhooks', webhook));
  },
  preconditionFailed: () =>
    read(
      fetch(`${server.url}/plants/1`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${server.token}`, 'if-match': '"1"' },
      }),
    ),
  cursorExpired: () => send('GET', `/plants/changes?after=${otherCursor}`),
  bodyTooLarge: () => create(`"${'a'.repeat(2 ** 20)}"`),
  unsupportedMediaType: () => create(plant, { 'content-type': 'text/plain' }),
  expectationFailed: () => raw(rawRequest('GET /', ['Expect: cake', close])),
  rateLimited: async () => {
    const limited = await startForTest({ PLANT_STORE_RATE_LIMIT: '1' });
    await create(plant, {}, limited);
    return create(plant, {}, limited);
  },
  headersTooLarge: () => raw(`GET / HTTP/1.1\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`),
  internal: () => send('GET', `/plants/${bugId}`),
  plantRejected: async () => {
    const changed = await startForTest();
    await runSql(changed.databaseUrl, 'alter table plants add check (id <> 1)');
    return create(plant, {}, changed);
  },
  databaseUnavailable: async () => {
    const own = await startForTest();
    await runSql(own.databaseUrl, 'drop table plants');
    return create(plant, {}, own);
  },
  overloaded: async () => {
    const busy = await startForTest();
    const unlock = await lockPlants(busy);
    const rejected = await overload(busy);
    await unlock();
    return rejected;
  },
  identityProviderUnavailable: async () => {
    const provider = await startIdentityProvider();
    await provider.addKey('only');
    const jwt = await provider.sign();
    await provider.stop();
    const own = await startForTest(jwtSettings(provider));
    return create(plant, {}, { url: own.url, token: jwt });
  },
};

/**
 * Sends creates over tRPC in batches of ten, and some over REST, until a create over REST gets 50301. Returns
 * that response after all other responses.
 */
async function overload(target: Target): Promise<ReceivedResponse> {
  const path = `/trpc/${Array(10).fill('createPlant')}?batch=1`;
  const pending = new Set<Promise<unknown>>();
  const track = (response: Promise<unknown>) => {
    pending.add(response);
    void response.finally(() => pending.delete(response));
  };
  let lastId = 0;
  let rejected: ReceivedResponse | undefined;
  const sendSome = () => {
    const ids = Array.from({ length: 10 }, () => ++lastId);
    const body = JSON.stringify({ ...ids.map((id) => ({ json: { id, name: 'x' } })) });
    for (let i = 0; i < 30; i++) track(read(post(target, path, body)));
    const probe = create(`{"id":${++lastId},"name":"x"}`, {}, target);
    const keep = (response: ReceivedResponse) => {
      if (response.body.includes('50301')) rejected = response;
    };
    track(probe.then(keep));
  };
  while (!rejected) {
    if (pending.size < 3_000) sendSome();
    await setTimeout(20);
  }
  await Promise.all(pending);
  return rejected;
}

/** While a test mocks `BigInt`, a bug happens in the server when it reads this id. */
const bugId = '99999';

/** Errors that other files cause, because they need a process, a standby or half a minute. */
const elsewhere: Partial<Record<ErrorKind, string>> = {
  requestTimeout: 'slow-clients.e2e.ts',
  shuttingDown: 'stop.test.ts',
  notImplemented: 'replica.test.ts of core',
};

/** Breaks a function that the server needs, as a bug would. */
function makeBug(): void {
  const original = globalThis.BigInt;
  const broken = vi.spyOn(globalThis, 'BigInt').mockImplementation((value) => {
    if (String(value) === bugId) throw new TypeError('secret of a bug');
    return original(value);
  });
  onTestFinished(() => broken.mockRestore());
}

describe('the catalogue of errors', () => {
  it('has a test for each error', () => {
    const tested = Object.keys({ ...causes, ...elsewhere });
    expect(tested.toSorted()).toEqual(errorKinds.toSorted());
  });

  const kinds = Object.keys(causes) as ErrorKind[]; // TypeScript regards the keys of an object as strings.

  /** The operation of an error that not every operation has. */
  const operations: Partial<Record<ErrorKind, string>> = {
    plantUnknown: 'DELETE /plants/{id}',
    accessTokenUnknown: 'DELETE /access-tokens/{id}',
    webhookUnknown: 'DELETE /webhooks/{name}',
    webhookNameTaken: 'POST /webhooks',
    preconditionFailed: 'DELETE /plants/{id}',
    insufficientScope: 'DELETE /plants/{id}',
    cursorExpired: 'GET /plants/changes',
    internal: 'GET /plants/{id}',
  };

  it.each(kinds)('the error %s is as the document describes it, with an example', async (kind) => {
    if (kind === 'internal') makeBug();
    const response = await causes[kind]?.();
    if (!response) throw new Error(`no test causes ${kind}`);
    const { error, message, ...others } = JSON.parse(response.body);
    expect({ status: response.status, error, others }).toEqual({
      ...{ status: httpStatus(kind), others: {} },
      error: errorCatalogue[kind].code,
    });
    expect(message).toMatch(/\S/);
    expect(message).not.toContain('secret');
    const operation = (await documentOf(server.url)).operation(operations[kind] ?? 'POST /plants');
    expect(operation.differencesFrom(response)).toEqual([]);
    const examples = operation.examplesOf(httpStatus(kind));
    expect(examples).toContainEqual({ error, message: expect.any(String) });
    if ([429, 503].includes(response.status)) {
      expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
    }
  });

  it.each(['POST /plants', 'GET /plants', 'DELETE /plants/{id}', 'GET /plants/changes'])(
    '%s declares the statuses that every operation has',
    async (name) => {
      const { statuses } = (await documentOf(server.url)).operation(name);
      const everywhere = ['400', '401', '403', '404', '429', '503', 'default'];
      expect(statuses).toEqual(expect.arrayContaining(everywhere));
    },
  );
});

it('responds with 50300 in time while the database is silent, and normally afterwards', async () => {
  const own = await startForTest();
  const unlock = await lockPlants(own);
  const creates = surfaces.map((surface) => surface.send(own, plant));
  expect((await fetch(`${own.url}/livez`)).status).toBe(200);
  for (const { status, headers, error } of await Promise.all(creates)) {
    expect([status, error]).toEqual([503, 50300]);
    expect(headers.get('retry-after')).toMatch(/^\d+$/);
  }
  await unlock();
  for (const surface of surfaces) {
    await vi.waitFor(async () => expect((await surface.send(own, plant)).status).toBe(200));
  }
});

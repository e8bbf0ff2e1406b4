import { type ErrorKind, errorCatalogue, errorKinds, httpStatus } from '@plant-store/schemas';
import { runSql } from '@plant-store/test-setup';
import { expect, it } from 'vitest';
import { documentOf, type ReceivedResponse } from '../fixtures/document.ts';
import { close, rawRequest, sendRaw } from '../fixtures/raw-request.ts';
import { lockPlants, shareServer, startForTest, type Target } from '../fixtures/server.ts';
import { post, request, tokenWith } from '../fixtures/surfaces.ts';

const server = shareServer();
const plant = '{"id":1,"name":"Monstera deliciosa"}';

type Headers = Record<string, string>;
const create = (json = plant, headers: Headers = {}, target: Target = server) =>
  post(target, '/plants', json, headers);
const send = (method: string, path: string, headers: Headers = {}) =>
  request(server, method, path, undefined, headers);
const raw = (text: string) => sendRaw(server.url, text);

/** A cursor of another database. */
const otherCursor = Buffer.from('0123456789abcdef 1').toString('base64url');

/** Each function causes one error of the catalogue. */
const causes: Partial<Record<ErrorKind, () => Promise<Response | ReceivedResponse>>> = {
  bodyNotJson: () => create(''),
  invalidInput: () => create('{"id":1.5}'),
  malformedRequest: () => raw(rawRequest('GET /%zz', [close])),
  tokenMissing: () => create(plant, { authorization: '' }),
  tokenInvalid: () => create(plant, { authorization: 'Bearer guess' }),
  async insufficientScope() {
    const reader = await tokenWith(server, ['plants:read']);
    return send('DELETE', '/plants/1', { authorization: `Bearer ${reader}` });
  },
  pathUnknown: () => send('GET', '/plant'),
  plantUnknown: () => send('DELETE', '/plants/404'),
  accessTokenUnknown: () => send('DELETE', '/access-tokens/5f70bf18a0860070'),
  webhookUnknown: () => send('DELETE', '/webhooks/unknown'),
  methodNotAllowed: () => send('PATCH', '/plants'),
  async idTaken() {
    await create();
    return create('{"id":1,"name":"Ficus lyrata"}');
  },
  async webhookNameTaken() {
    const webhook = '{"url":"https://1.1.1.1/","name":"taken"}';
    await post(server, '/webhooks', webhook);
    return post(server, '/webhooks', webhook);
  },
  preconditionFailed: () => send('DELETE', '/plants/1', { 'if-match': '"1"' }),
  cursorExpired: () => send('GET', `/plants/changes?after=${otherCursor}`),
  bodyTooLarge: () => create(`"${'a'.repeat(2 ** 20)}"`),
  unsupportedMediaType: () => create(plant, { 'content-type': 'text/plain' }),
  expectationFailed: () => raw(rawRequest('GET /', ['Expect: cake', close])),
  async rateLimited() {
    const limited = await startForTest({ PLANT_STORE_RATE_LIMIT: '1' });
    await create(plant, {}, limited);
    return create(plant, {}, limited);
  },
  headersTooLarge: () => raw(`GET / HTTP/1.1\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`),
  async plantRejected() {
    const own = await startForTest();
    await runSql(own.databaseUrl, 'alter table plants add check (id <> 1)');
    return create(plant, {}, own);
  },
  async databaseUnavailable() {
    const own = await startForTest();
    const unlock = await lockPlants(own);
    const response = await create(plant, {}, own);
    await unlock();
    return response;
  },
};

/** The operation whose description the test compares with an error. Default: POST /plants. */
const operations: Partial<Record<ErrorKind, string>> = {
  plantUnknown: 'DELETE /plants/{id}',
  accessTokenUnknown: 'DELETE /access-tokens/{id}',
  webhookUnknown: 'DELETE /webhooks/{name}',
  webhookNameTaken: 'POST /webhooks',
  preconditionFailed: 'DELETE /plants/{id}',
  insufficientScope: 'DELETE /plants/{id}',
  cursorExpired: 'GET /plants/changes',
};

/** The test files that cause the other errors. */
const elsewhere: Partial<Record<ErrorKind, string>> = {
  internal: 'logs.test.ts',
  identityProviderUnavailable: 'jwt.test.ts',
  overloaded: 'feed.test.ts',
  requestTimeout: 'slow-clients.e2e.ts',
  shuttingDown: 'stop.test.ts',
  notImplemented: 'start.test.ts',
};

it('each error of the catalogue has a test', () => {
  const tested = Object.keys({ ...causes, ...elsewhere });
  expect(tested.toSorted()).toEqual(errorKinds.toSorted());
});

it.each(Object.keys(causes) as ErrorKind[])(
  // The cast is necessary, because TypeScript types the result of `Object.keys` as `string[]`.
  'the OpenAPI document describes the error %s with an example',
  async (kind) => {
    const response = await causes[kind]?.();
    if (!response) throw new Error(`no test causes ${kind}`);
    const operation = operations[kind] ?? 'POST /plants';
    const { status, headers } = response;
    const body = response instanceof Response ? await response.text() : response.body;
    const { error, message, ...others } = JSON.parse(body);
    const { code } = errorCatalogue[kind];
    expect({ status, error, others }).toEqual({
      status: httpStatus(kind),
      error: code,
      others: {},
    });
    expect(message).toMatch(/\S/);
    const { expectDescribed, examplesOf } = await documentOf(server.url);
    expectDescribed(operation, { status, headers, body });
    const example = { error, message: expect.any(String) };
    expect(examplesOf(operation, status)).toContainEqual(example);
    if ([429, 503].includes(status)) expect(headers.get('retry-after')).toMatch(/^\d+$/);
  },
);

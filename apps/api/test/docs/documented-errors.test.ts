import { type ErrorKind, errorCatalogue, httpStatus } from '@plant-store/schemas';
import { runSql } from '@plant-store/test-setup';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { errorExamples } from '../../openapi/error-examples.ts';
import { documentValidator } from '../fixtures/document-validator.ts';
import { startIdentityProvider } from '../fixtures/identity-provider.ts';
import { lockPlants } from '../fixtures/lock-plants.ts';
import { authorization, close, contentType, rawRequest, sendRaw } from '../fixtures/raw-request.ts';
import { type RunningServer, shareServer, startServer } from '../fixtures/running-server.ts';
import { post } from '../fixtures/surfaces.ts';

interface ReceivedResponse {
  status: number;
  headers: Headers;
  body: string;
}

const server = shareServer({ rateLimit: 100_000 });
let document: Awaited<ReturnType<typeof documentValidator>>;

beforeAll(async () => {
  document = await documentValidator(server.url);
});

const monstera = '{"id":1,"name":"Monstera deliciosa"}';
const create = (json = monstera, headers?: Record<string, string>) =>
  read(post(server, '/plants', json, headers));
const send = (method: string, path: string, more?: Record<string, string>) => {
  const headers = { authorization: `Bearer ${server.token}`, ...more };
  return read(fetch(server.url + path, { method, headers }));
};
const raw = (text: string) => sendRaw(server.url, text);

const rateLimitHeaders = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];

/** A cursor that belongs to another database. */
const otherCursor = Buffer.from('0123456789abcdef 1').toString('base64url');

/** Each function causes one error, and returns the response. */
const causes: Record<ErrorKind, () => Promise<ReceivedResponse>> = {
  bodyNotJson: () => create(''),
  invalidInput: () => create('{"id":1.5}'),
  malformedRequest: () =>
    raw(rawRequest('GET /livez', ['Authorization: a', 'Authorization: b', close])),
  tokenMissing: () => create(monstera, { authorization: '' }),
  tokenInvalid: () => create(monstera, { authorization: 'Bearer guess' }),
  insufficientScope: async () => {
    const token = await server.store.accessTokens.create('reader', { scopes: ['plants:read'] });
    return send('DELETE', '/plants/1', { authorization: `Bearer ${token}` });
  },
  pathUnknown: () => send('GET', '/plant'),
  plantUnknown: () => send('GET', '/plants/404'),
  accessTokenUnknown: () => send('DELETE', '/access-tokens/5f70bf18a0860070'),
  methodNotAllowed: () => send('PUT', '/plants'),
  requestTimeout: () =>
    onNewServer({ requestTimeout: 100 }, ({ url }) => sendRaw(url, 'POST /plants HTTP/1.1\r\n')),
  idTaken: async () => {
    await create();
    return create('{"id":1,"name":"Ficus lyrata"}');
  },
  cursorExpired: () => send('GET', `/plants/changes?after=${otherCursor}`),
  bodyTooLarge: () => create(`"${'a'.repeat(2 ** 20)}"`),
  unsupportedMediaType: () => create(monstera, { 'content-type': 'text/plain' }),
  expectationFailed: () => raw(rawRequest('GET /', ['Expect: cake', close])),
  rateLimited: () =>
    onNewServer({ rateLimit: 2 }, async (limited) => {
      // The error message names the seconds until the client may try again. The test stops the clocks, so
      // that this number is the same in each run.
      vi.useFakeTimers({ toFake: ['Date', 'performance'] });
      onTestFinished(() => void vi.useRealTimers());
      for (const _ of [1, 2]) await post(limited, '/plants', monstera);
      return read(post(limited, '/plants', monstera));
    }),
  headersTooLarge: () => raw(`GET / HTTP/1.1\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`),
  internal: () => {
    const create = () => Promise.reject(new TypeError('a bug'));
    return onNewServer({ create }, (broken) => read(post(broken, '/plants', monstera)));
  },
  plantRejected: () =>
    onNewServer({}, async (changed) => {
      const constraint = "check (name <> 'Monstera deliciosa')";
      await runSql(changed.databaseUrl, `alter table plants add ${constraint}`);
      return read(post(changed, '/plants', monstera));
    }),
  notImplemented: () => raw(rawRequest('BREW /plants')),
  databaseUnavailable: () =>
    onNewServer({}, async (bare) => {
      const unlock = await lockPlants(bare.databaseUrl);
      let hasResponse = false;
      const sent = read(post(bare, '/plants', monstera)).finally(() => {
        hasResponse = true;
      });
      const terminate = `
        select pg_terminate_backend(pid) from pg_stat_activity
        where wait_event_type = 'Lock' and datname = current_database()`;
      // The store may repeat a statement that Postgres has terminated.
      while (!hasResponse) await runSql(bare.databaseUrl, terminate);
      await unlock();
      return sent;
    }),
  overloaded: () =>
    onNewServer({}, async (busy) => {
      const unlock = await lockPlants(busy.databaseUrl);
      const creates: Promise<unknown>[] = [];
      const fillQueue = () => {
        for (let i = 0; i < 11_000; i++) {
          const options = { deadline: Number.POSITIVE_INFINITY };
          creates.push(busy.store.create({ id: BigInt(i), name: 'x' }, options).catch(() => {}));
        }
      };
      let response: ReceivedResponse;
      // On a slow machine, some creates may end before the request arrives. The queue then has room for the
      // request, so the test fills the queue again.
      do {
        fillQueue();
        response = await read(post(busy, '/plants', monstera));
      } while (!response.body.includes('50301'));
      await unlock();
      await Promise.all(creates);
      return response;
    }),
  shuttingDown: () =>
    onNewServer({}, async (closing) => {
      await closing.store.close();
      return read(post(closing, '/plants', monstera));
    }),
  identityProviderUnavailable: async () => {
    const provider = await startIdentityProvider();
    await provider.addKey('only');
    const jwt = await provider.sign();
    await provider.stop();
    return onNewServer({ jwts: provider.settings }, ({ url }) =>
      read(post({ url, token: jwt }, '/plants', monstera)),
    );
  },
};

/** Starts another server, sends a request to it, and returns the response. */
async function onNewServer(
  options: Parameters<typeof startServer>[0],
  request: (server: RunningServer) => Promise<ReceivedResponse>,
): Promise<ReceivedResponse> {
  const other = await startServer(options);
  const response = await request(other);
  await other.stop();
  return response;
}

async function read(sent: Promise<Response>): Promise<ReceivedResponse> {
  const response = await sent;
  return { status: response.status, headers: response.headers, body: await response.text() };
}

describe('the document', () => {
  const kinds = Object.keys(causes) as ErrorKind[]; // TypeScript regards the keys of an object as strings.
  const everywhere = ['400', '401', '404', '429', '503', 'default'];

  it.each([
    ['POST /plants', '200 403 409 413'],
    ['POST /plants/batch', '200 403 413'],
    ['GET /plants', '200 403'],
    ['GET /plants/count', '200 403'],
    ['GET /plants/changes', '200 403 410'],
    ['GET /whoami', '200'],
    ['GET /plants/{id}', '200 403'],
    ['DELETE /plants/{id}', '204 403'],
  ])('declares for %s the statuses %s, and one response for all other statuses', (name, own) => {
    const statuses = [...everywhere, ...own.split(' ')];
    expect(document.operation(name).statuses.toSorted()).toEqual(statuses.toSorted());
  });

  it('describes the responses to successful calls', async () => {
    const expiresAt = new Date('2100-01-02T03:04:05.678Z');
    const expiring = await server.store.accessTokens.create('expiring', { expiresAt });
    const authorization = `Bearer ${expiring}`;
    for (const [name, response] of [
      ['POST /plants', await create('{"id":2,"name":"Hoya carnosa","tag":"Apocynaceae"}')],
      ['GET /plants/{id}', await send('GET', '/plants/2')],
      ['GET /plants', await send('GET', '/plants?limit=1')],
      ['DELETE /plants/{id}', await send('DELETE', '/plants/2')],
      ['POST /access-tokens', await read(post(server, '/access-tokens', '{"name":"new"}'))],
      ['GET /access-tokens', await send('GET', '/access-tokens?limit=1')],
      ['GET /whoami', await send('GET', '/whoami')],
      ['GET /whoami', await send('GET', '/whoami', { authorization })],
    ] as const) {
      expect(response.status).toBeLessThan(300);
      expect(document.operation(name).differencesFrom(response)).toEqual([]);
    }
  });

  it.each(kinds)(
    'the example of the error %s equals the real response, and gives advice',
    async (kind) => {
      const names: Partial<Record<ErrorKind, string>> = {
        plantUnknown: 'DELETE /plants/{id}',
        accessTokenUnknown: 'DELETE /access-tokens/{id}',
        insufficientScope: 'DELETE /plants/{id}',
        cursorExpired: 'GET /plants/changes',
      };
      const operation = document.operation(names[kind] ?? 'POST /plants');
      const response = await causes[kind]();
      const body = JSON.parse(response.body);
      expect(body).toEqual({ error: errorCatalogue[kind].code, message: errorExamples[kind] });
      expect(operation.examplesOf(httpStatus(kind))).toContainEqual(body);
      expect(operation.differencesFrom(response)).toEqual([]);
      const advice =
        /\b(ask|check|choose|list|send|tell|try|use)\b|must be|takes .*, not |lists the paths/;
      expect(body.message).toMatch(advice);
    },
  );

  const expired = '{"name":"x","expiresAt":"2020-01-01T00:00:00Z"}';
  const list = `{"plants":[${[1, 2, 3].map((id) => `{"id":${id},"name":"x"}`)},{"id":4}]}`;

  it.each([
    ['GET /plants', () => send('GET', '/plants?size=0')],
    ['GET /plants/{id}', () => send('GET', '/plants/5?size=0')],
    ['GET /whoami', () => send('GET', '/whoami?size=0')],
    ['POST /plants/batch', () => read(post(server, '/plants/batch', list))],
    ['POST /access-tokens', () => read(post(server, '/access-tokens', expired))],
  ])('has an example of an invalid input of %s', async (name, sendInvalid) => {
    const response = await sendInvalid();
    const operation = document.operation(name);
    expect(operation.examplesOf(400)).toContainEqual(JSON.parse(response.body));
    expect(operation.differencesFrom(response)).toEqual([]);
  });

  it.each([
    [200, true, () => create('{"id":3,"name":"Hoya"}')],
    [400, true, causes.bodyNotJson],
    [401, true, causes.tokenInvalid],
    [409, true, causes.idTaken],
    [413, true, causes.bodyTooLarge],
    [429, true, causes.rateLimited],
    [404, false, causes.pathUnknown],
  ])(
    'declares for the status %i whether a response has the headers of the rate limit: %s',
    async (status, hasHeaders, provoke) => {
      const response = await provoke();
      expect(response.status).toBe(status);
      for (const header of rateLimitHeaders) {
        expect(/^\d+$/.test(response.headers.get(header) ?? '')).toBe(hasHeaders);
        expect(document.operation('POST /plants').declares(status, header)).toBe(hasHeaders);
      }
    },
  );

  it.each([
    ['GET /plants', 'GET /plants'],
    ['DELETE /plants/{id}', 'DELETE /plants/1'],
    ['POST /plants', 'POST /plants'],
  ])('declares for %s the status of the response to long chunk extensions', async (name, start) => {
    const headers = [authorization, contentType, 'Transfer-Encoding: chunked'];
    const chunks = `1;${'a'.repeat(20_000)}\r\n{\r\n0\r\n\r\n`;
    const response = await raw(rawRequest(start, headers) + chunks);
    expect(response.body).toContain('the chunk extensions of the body are too large');
    expect(document.operation(name).differencesFrom(response)).toEqual([]);
  });

  it('declares the header Accept-Encoding in the response 415, which rejects a compressed body', async () => {
    const response = await post(server, '/plants', '', { 'content-encoding': 'gzip' });
    expect([response.status, response.headers.get('accept-encoding')]).toEqual([415, 'identity']);
    expect(document.operation('POST /plants').declares(415, 'Accept-Encoding')).toBe(true);
  });
});

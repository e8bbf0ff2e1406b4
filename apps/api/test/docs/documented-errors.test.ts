import { type ErrorKind, errorCatalogue, httpStatus } from '@plant-store/schemas';
import postgres from 'postgres';
import { beforeAll, describe, expect, it } from 'vitest';
import { errorExamples } from '../../openapi/error-examples.ts';
import { documentValidator } from '../fixtures/document-validator.ts';
import { startIdentityProvider } from '../fixtures/identity-provider.ts';
import { sendRaw } from '../fixtures/raw-request.ts';
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
const send = (method: string, path: string, headers?: Record<string, string>) =>
  read(
    fetch(server.url + path, {
      method,
      headers: { authorization: `Bearer ${server.token}`, ...headers },
    }),
  );
const raw = (text: string) => sendRaw(server.url, text);

const rateLimitHeaders = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];

/** A cursor of another database. */
const otherCursor = Buffer.from('0123456789abcdef 1').toString('base64url');

/** Functions that cause each error and return its response. */
const causes: Record<ErrorKind, () => Promise<ReceivedResponse>> = {
  bodyNotJson: () => create(''),
  invalidInput: () => create('{"id":1.5}'),
  malformedRequest: () =>
    raw(
      'GET /livez HTTP/1.1\r\nHost: x\r\nAuthorization: a\r\nAuthorization: b\r\nConnection: close\r\n\r\n',
    ),
  tokenMissing: () => create(monstera, { authorization: '' }),
  tokenInvalid: () => create(monstera, { authorization: 'Bearer guess' }),
  insufficientScope: async () => {
    const token = await server.store.accessTokens.create('reader', { scopes: ['plants:read'] });
    return send('DELETE', '/plants/1', { authorization: `Bearer ${token}` });
  },
  pathUnknown: () => send('GET', '/plant'),
  plantUnknown: () => send('GET', '/plants/404'),
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
  expectationFailed: () =>
    raw('GET / HTTP/1.1\r\nHost: x\r\nExpect: cake\r\nConnection: close\r\n\r\n'),
  rateLimited: () =>
    onNewServer({ rateLimit: 2 }, async (limited) => {
      for (const _ of [1, 2]) await post(limited, '/plants', monstera);
      return read(post(limited, '/plants', monstera));
    }),
  headersTooLarge: () => raw(`GET / HTTP/1.1\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`),
  internal: () => {
    const bug = async () => {
      throw new TypeError('a bug');
    };
    return onNewServer({ create: bug }, (broken) => read(post(broken, '/plants', monstera)));
  },
  plantRejected: () =>
    onNewServer({}, async (changed) => {
      const sql = postgres(changed.databaseUrl ?? '');
      await sql`alter table plants add check (name <> 'Monstera deliciosa')`;
      await sql.end();
      return read(post(changed, '/plants', monstera));
    }),
  notImplemented: () => raw('BREW /plants HTTP/1.1\r\nHost: x\r\n\r\n'),
  databaseUnavailable: () =>
    onNewServer({}, async (bare) => {
      const sql = postgres(bare.databaseUrl ?? '', { max: 2 });
      const response = await sql.begin(async (transaction) => {
        await transaction`lock table plants`;
        let hasResponse = false;
        const sent = read(post(bare, '/plants', monstera)).finally(() => {
          hasResponse = true;
        });
        // The store may send the statement again.
        while (!hasResponse) {
          await sql`
            select pg_terminate_backend(pid) from pg_stat_activity
            where wait_event_type = 'Lock' and datname = current_database()`;
        }
        return sent;
      });
      await sql.end();
      return response;
    }),
  overloaded: () =>
    onNewServer({}, async (busy) => {
      const sql = postgres(busy.databaseUrl ?? '');
      const lock = await sql.reserve();
      await lock`begin`;
      await lock`lock table plants in access exclusive mode`;
      const creates: Promise<unknown>[] = [];
      const fillQueue = () => {
        for (let i = 0; i < 11_000; i++) {
          const options = { deadline: Number.POSITIVE_INFINITY };
          creates.push(busy.store.create({ id: BigInt(i), name: 'x' }, options).catch(() => {}));
        }
      };
      let response: ReceivedResponse;
      // On a slow machine, the database may have ended statements before the request arrives.
      do {
        fillQueue();
        response = await read(post(busy, '/plants', monstera));
      } while (!response.body.includes('50301'));
      await lock`rollback`;
      lock.release();
      await Promise.all(creates);
      await sql.end();
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
  options: Parameters<typeof startServer>[1],
  request: (server: RunningServer) => Promise<ReceivedResponse>,
): Promise<ReceivedResponse> {
  const other = await startServer('Postgres', options);
  const response = await request(other);
  await other.stop();
  return response;
}

async function read(sent: Promise<Response>): Promise<ReceivedResponse> {
  const response = await sent;
  return { status: response.status, headers: response.headers, body: await response.text() };
}

describe('the document', () => {
  const kinds = Object.keys(causes) as ErrorKind[]; // TypeScript types the keys as strings.
  const onlyWithBody = ['bodyNotJson', 'idTaken', 'bodyTooLarge', 'unsupportedMediaType'];

  it.each([
    ['POST /plants', 200, ['plantUnknown', 'cursorExpired']],
    ['POST /plants/batch', 200, ['idTaken', 'plantRejected', 'cursorExpired']],
    ['GET /plants', 200, ['plantUnknown', 'cursorExpired', ...onlyWithBody]],
    ['GET /plants/count', 200, ['plantUnknown', 'cursorExpired', ...onlyWithBody]],
    ['GET /plants/changes', 200, ['plantUnknown', ...onlyWithBody]],
    ['GET /whoami', 200, ['plantUnknown', 'insufficientScope', 'cursorExpired', ...onlyWithBody]],
    ['GET /plants/{id}', 200, ['cursorExpired', ...onlyWithBody]],
    ['DELETE /plants/{id}', 204, ['cursorExpired', ...onlyWithBody]],
  ])(
    'declares the status of success and the statuses of all possible errors of %s',
    (name, ok, never) => {
      const statuses = kinds.filter((kind) => !never.includes(kind)).map(httpStatus);
      expect(document.operation(name).statuses).toEqual([...new Set([ok, ...statuses])].toSorted());
    },
  );

  it('describes successful responses', async () => {
    const created = await create('{"id":2,"name":"Hoya carnosa","tag":"Apocynaceae"}');
    expect(document.operation('POST /plants').differencesFrom(created)).toEqual([]);
    const got = await send('GET', '/plants/2');
    expect(document.operation('GET /plants/{id}').differencesFrom(got)).toEqual([]);
    const page = await send('GET', '/plants?limit=1');
    expect(document.operation('GET /plants').differencesFrom(page)).toEqual([]);
    const changes = await send('GET', '/plants/changes');
    expect(document.operation('GET /plants/changes').differencesFrom(changes)).toEqual([]);
    const deleted = await send('DELETE', '/plants/2');
    expect(document.operation('DELETE /plants/{id}').differencesFrom(deleted)).toEqual([]);
  });

  it.each(kinds)('has an example of %s that equals the real response', async (kind) => {
    const names: Partial<Record<ErrorKind, string>> = {
      plantUnknown: 'DELETE /plants/{id}',
      insufficientScope: 'DELETE /plants/{id}',
      cursorExpired: 'GET /plants/changes',
    };
    const operation = document.operation(names[kind] ?? 'POST /plants');
    const response = await causes[kind]();
    const body = JSON.parse(response.body);
    expect(body).toEqual({ error: errorCatalogue[kind].code, message: errorExamples[kind] });
    expect(operation.examplesOf(httpStatus(kind))).toContainEqual(body);
    expect(operation.differencesFrom(response)).toEqual([]);
    for (const header of rateLimitHeaders) {
      if (response.headers.has(header))
        expect(operation.declares(response.status, header)).toBe(true);
    }
  });

  it.each(kinds)('says in the example of %s what to do', (kind) => {
    const advice =
      /\b(ask|check|choose|list|send|tell|try|use)\b|must be|takes .*, not |lists the paths/;
    expect(errorExamples[kind]).toMatch(advice);
  });

  it.each([
    ['GET /plants', '/plants?limit=0'],
    ['GET /plants/changes', '/plants/changes?limit=0'],
    ['GET /plants/{id}', '/plants/five'],
    ['GET /plants/count', '/plants/count?limit=1'],
    ['GET /whoami', '/whoami?limit=1'],
  ])('has an example of an invalid parameter of %s', async (name, path) => {
    const response = await send('GET', path);
    const operation = document.operation(name);
    expect(operation.examplesOf(400)).toContainEqual(JSON.parse(response.body));
    expect(operation.differencesFrom(response)).toEqual([]);
  });

  it('has an example of an invalid plant in a list', async () => {
    const plants = [1, 2, 3].map((id) => `{"id":${id},"name":"x"}`);
    const response = await read(post(server, '/plants/batch', `{"plants":[${plants},{"id":4}]}`));
    const operation = document.operation('POST /plants/batch');
    expect(operation.examplesOf(400)).toContainEqual(JSON.parse(response.body));
    expect(operation.differencesFrom(response)).toEqual([]);
  });

  it.each([
    ['200', () => create('{"id":3,"name":"Hoya"}')],
    ['400', causes.bodyNotJson],
    ['401', causes.tokenInvalid],
    ['409', causes.idTaken],
    ['413', causes.bodyTooLarge],
    ['415', causes.unsupportedMediaType],
    ['429', causes.rateLimited],
  ])('declares the headers of the rate limit for the response %s', async (status, provoke) => {
    const response = await provoke();
    expect(response.status).toBe(Number(status));
    for (const header of rateLimitHeaders) {
      expect(response.headers.get(header)).toMatch(/^\d+$/);
      expect(document.operation('POST /plants').declares(response.status, header)).toBe(true);
    }
  });

  it.each([
    ['GET /plants', 'GET /plants'],
    ['DELETE /plants/{id}', 'DELETE /plants/1'],
    ['POST /plants', 'POST /plants'],
  ])('declares the status of %s with long chunk extensions', async (name, start) => {
    const token = `Authorization: Bearer ${server.token}\r\nContent-Type: application/json`;
    const response = await raw(
      `${start} HTTP/1.1\r\nHost: x\r\n${token}\r\nTransfer-Encoding: chunked\r\n\r\n` +
        `1;${'a'.repeat(20_000)}\r\n{\r\n0\r\n\r\n`,
    );
    expect(response.body).toContain('the chunk extensions of the body are too large');
    expect(document.operation(name).differencesFrom(response)).toEqual([]);
  });

  it('declares Accept-Encoding for 415, the response to a compressed body', async () => {
    const response = await post(server, '/plants', '', { 'content-encoding': 'gzip' });
    expect([response.status, response.headers.get('accept-encoding')]).toEqual([415, 'identity']);
    expect(document.operation('POST /plants').declares(415, 'Accept-Encoding')).toBe(true);
  });

  it.each([
    ['404', causes.pathUnknown],
    ['405', causes.methodNotAllowed],
    ['408', causes.requestTimeout],
    ['431', causes.headersTooLarge],
  ])('does not declare these headers for %s, a response without them', async (status, provoke) => {
    const response = await provoke();
    expect(response.status).toBe(Number(status));
    for (const header of rateLimitHeaders) {
      expect(response.headers.has(header)).toBe(false);
      expect(document.operation('POST /plants').declares(response.status, header)).toBe(false);
    }
  });
});

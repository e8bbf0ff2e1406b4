import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { PlantStoreError } from '@plant-store/core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { sendRaw } from '../fixtures/raw-request.ts';
import {
  type DatabaseName,
  type RunningServer,
  startServer,
  startServerOn,
} from '../fixtures/running-server.ts';
import { post, surfaces } from '../fixtures/surfaces.ts';

const plant = '{"id":1,"name":"x"}';

let server: RunningServer;

/** What every error reply has in common, whoever made it. */
function expectError(reply: { status: number; body: unknown }, error: number, status: number) {
  expect(reply.status).toBe(status);
  expect(reply.body).toStrictEqual({ error, message: expect.stringMatching(/\S/) });
}

const databases: DatabaseName[] = ['PGlite', 'Postgres'];
const cases = databases.flatMap((database) => surfaces.map((surface) => ({ database, surface })));

describe.each(cases)('over $surface.name on $database', ({ database, surface }) => {
  beforeAll(async () => {
    server = await startServer(database);
  });

  afterAll(() => server.stop());

  it('answers 401 where there is no bearer token', async () => {
    for (const authorization of ['', 'Basic dXNlcjpwYXNz', 'Bearer', 'Bearer ', 'test-token']) {
      const reply = await surface.send(server, plant, { authorization });
      expectError(reply, 40100, 401);
      expect(reply.headers.get('www-authenticate')).toBe('Bearer realm="plant-store"');
    }
  });

  it('answers 401 where the token is unknown', async () => {
    for (const authorization of ['Bearer wrong', 'Bearer test-token x', 'Bearer "test-token"']) {
      const reply = await surface.send(server, plant, { authorization });
      expectError(reply, 40101, 401);
      expect(reply.headers.get('www-authenticate')).toBe(
        'Bearer realm="plant-store", error="invalid_token"',
      );
    }
  });

  it('takes the scheme in any case', async () => {
    const reply = await surface.send(server, plant, { authorization: 'bEARER  test-token' });
    expect(reply.status).toBe(200);
  });

  it('answers 401 before it looks at the body', async () => {
    const reply = await surface.send(server, 'no json', {
      authorization: '',
      'content-type': 'text/plain',
    });
    expectError(reply, 40100, 401);
  });

  it('answers 400 where the body is not JSON', async () => {
    for (const json of ['{', '{"id":1,}', 'undefined', "{'id':1}", '[1e1,'.padEnd(100_000, '[')]) {
      expectError(await surface.send(server, json), 40000, 400);
    }
  });

  it('answers 400 where the body is not UTF-8', async () => {
    const reply = await post(server, surface.path, new Uint8Array([0x22, 0xff, 0xfe, 0x22]));
    expect(await reply.text()).toContain('"error":40000,');
  });

  it.each([
    'application/json; charset=utf-8',
    'Application/JSON;charset="UTF-8"; v=1',
    'application/json;',
  ])('takes the content type %s', async (type) => {
    expect((await surface.send(server, plant, { 'content-type': type })).status).toBe(200);
  });

  it.each([
    'text/plain',
    'application/jsonl',
    'application/json; charset=latin1',
    'multipart/form-data',
    'application/x-www-form-urlencoded',
    '*/*',
  ])('answers 415 to the content type %s', async (type) => {
    expectError(await surface.send(server, plant, { 'content-type': type }), 41500, 415);
  });

  it('answers 415 where there is no content type', async () => {
    const authorization = `Bearer ${server.token}`;
    const body = new Blob([plant]); // Of no type, so that fetch adds none.
    const reply = await fetch(server.url + surface.path, {
      method: 'POST',
      headers: { authorization },
      body,
    });
    expect(reply.status).toBe(415);
    expect(await reply.text()).toContain('"error":41500,');
  });

  it('answers 415 where the body is compressed', async () => {
    const gzip = new Uint8Array(gzipSync(plant));
    const reply = await post(server, surface.path, gzip, { 'content-encoding': 'gzip' });
    expect(reply.status).toBe(415);
    expect(await reply.text()).toContain('"error":41500,');
  });

  it.each([
    ['databaseUnavailable', 50300],
    ['overloaded', 50301],
  ] as const)('answers 503 with Retry-After where the store is %s', async (kind, error) => {
    const broken = await startServerOn(server.store, { create: failing(kind) });
    const reply = await surface.send(broken, plant);
    expectError(reply, error, 503);
    expect(reply.headers.get('retry-after')).toBe('1');
    await broken.stop();
  });

  it('answers 500 to a bug, which only the log describes', async () => {
    const broken = await startServerOn(server.store, { create: failing() });
    const reply = await surface.send(broken, plant);
    expect(reply).toMatchObject({
      status: 500,
      body: { error: 50000, message: 'internal error: the server has logged what went wrong' },
    });
    const [logged] = broken.log.map((line) => JSON.parse(line)).filter(({ err }) => err);
    expect(logged).toMatchObject({
      level: 50,
      reqId: expect.any(String),
      err: { type: 'TypeError', message: 'a bug', at: expect.stringMatching(/\.ts:\d+$/) },
    });
    await broken.stop();
  });

  it('answers 413 to a client that goes on sending', async () => {
    for (let i = 0; i < 5; i++) {
      const reply = await post(server, surface.path, ' '.repeat(8 * 1024 * 1024));
      expect(reply.status).toBe(413);
      expect(await reply.text()).toContain('"error":41300,');
    }
    const chunks = (async function* () {
      for (let i = 0; i < 64; i++) yield Buffer.alloc(128 * 1024, ' ');
    })();
    const headers = { authorization: 'Bearer test-token', 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: chunks, duplex: 'half' };
    // Node's fetch takes an async iterable, which the types of the web do not know.
    const reply = await fetch(server.url + surface.path, init as unknown as RequestInit);
    expect(reply.status).toBe(413);
  });

  it('counts requests without a token towards the rate limit', async () => {
    const limited = await startServerOn(server.store, { rateLimit: 2 });
    const guess = () => surface.send(limited, plant, { authorization: 'Bearer guess' });
    const statuses = [await guess(), await guess(), await guess()].map(({ status }) => status);
    expect(statuses).toEqual([401, 401, 429]);
    expect((await fetch(`${limited.url}/livez`)).status).toBe(200);
    await limited.stop();
  });

  it('answers 429 with Retry-After beyond a rate limit, where one is set', async () => {
    const limited = await startServerOn(server.store, { rateLimit: 2 });
    expect(await surface.send(limited, plant)).toMatchObject({ status: 200 });
    expect(await surface.send(limited, plant)).toMatchObject({ status: 200 });
    const reply = await surface.send(limited, plant);
    expectError(reply, 42900, 429);
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
    await limited.stop();
  });
});

describe('paths and methods', () => {
  beforeAll(async () => {
    server = await startServer('Postgres');
  });

  afterAll(() => server.stop());

  it.each([
    '/',
    '/plant',
    '/Plants',
    '/PLANTS',
    '/plants/',
    '//plants',
    '/plants/1',
    '/trpc',
    '/%2fplants',
    '/plants%00',
    '/../plants;x',
  ])('answers 404 to the path %s', async (path) => {
    const { status, body } = await request('POST', path);
    expectError({ status, body: JSON.parse(body) }, 40400, 404);
  });

  it.each([
    ['GET', '/plants', 'POST'],
    ['PUT', '/plants', 'POST'],
    ['DELETE', '/plants?x=1', 'POST'],
    ['OPTIONS', '/plants', 'POST'],
    ['PROPFIND', '/plants', 'POST'],
    ['TRACE', '/%70lants', 'POST'],
    ['POST', '/livez', 'GET, HEAD'],
    ['POST', '/openapi.json', 'GET, HEAD'],
    ['PUT', '/trpc/createPlant', 'GET, POST'],
  ])('answers 405 with Allow to %s %s', async (method, path, allow) => {
    const { status, headers, body } = await request(method, path);
    expectError({ status, body: JSON.parse(body) }, 40500, 405);
    expect(headers.get('allow')).toBe(allow);
  });

  it('answers 405 to HEAD, without a body as HEAD asks', async () => {
    expect(await request('HEAD', '/plants')).toMatchObject({ status: 405, body: '' });
  });

  it('finds the path in the absolute form of a target', async () => {
    expect(await request('GET', 'http://example.com/livez')).toMatchObject({ status: 200 });
  });

  it.each(['/%zz', '/plants%', '/%ff'])('answers 400 to the malformed path %s', async (path) => {
    const { status, body } = await request('POST', path);
    expectError({ status, body: JSON.parse(body) }, 40002, 400);
  });

  const request = (method: string, path: string) =>
    sendRaw(
      server.url,
      `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
    );
});

describe('below the routes', () => {
  beforeAll(async () => {
    server = await startServer('Postgres');
  });

  afterAll(() => server.stop());

  it.each([
    ['no HTTP at all', 'hello\r\n\r\n'],
    ['no Host', 'GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['two Hosts', 'GET /livez HTTP/1.1\r\nHost: x\r\nhost: y\r\nConnection: close\r\n\r\n'],
    [
      'two tokens',
      'GET /livez HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\nConnection: close\r\n\r\n',
    ],
    ['an unknown method', 'BREW /plants HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['an invalid header', 'GET / HTTP/1.1\r\nHost: x\r\nA b: c\r\n\r\n'],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
    ],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
  ])('answers 400 to %s', async (_what, text) => {
    const { status, headers, body } = await sendRaw(server.url, text);
    expectError({ status, body: JSON.parse(body) }, 40002, 400);
    expect(headers.get('content-type')).toBe('application/json');
  });

  it('answers 431 to headers that are too large', async () => {
    const { status, body } = await sendRaw(
      server.url,
      `GET / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`,
    );
    expectError({ status, body: JSON.parse(body) }, 43100, 431);
  });

  it('answers 417 to an expectation that it cannot meet', async () => {
    const { status, body } = await sendRaw(
      server.url,
      'GET / HTTP/1.1\r\nHost: x\r\nExpect: cake\r\n\r\n',
    );
    expectError({ status, body: JSON.parse(body) }, 41700, 417);
  });

  it('answers 405 to CONNECT', async () => {
    const { status, body } = await sendRaw(
      server.url,
      'CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n',
    );
    expectError({ status, body: JSON.parse(body) }, 40500, 405);
  });

  it.each([
    ['headers', 'POST /plants HTTP/1.1\r\nHost: x\r\n'],
    [
      'a body over tRPC',
      'POST /trpc/createPlant HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer test-token\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"json"',
    ],
    [
      'a body',
      'POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer test-token\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"id"',
    ],
  ])('answers 408 to %s that are not sent completely in time', async (_what, text) => {
    const impatient = await startServerOn(server.store, { requestTimeout: 100 });
    const { status, body } = await sendRaw(impatient.url, text);
    expectError({ status, body: JSON.parse(body) }, 40800, 408);
    await impatient.stop();
  });

  it.each(['close', 'keep-alive'])(
    'answers a request before the malformed bytes that follow it (Connection: %s)',
    async (connection) => {
      const request =
        `POST /plants HTTP/1.1\r\nHost: x\r\nConnection: ${connection}\r\nAuthorization: Bearer test-token\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${plant.length}\r\n\r\n${plant}`;
      expect(await sendRaw(server.url, `${request}no HTTP`)).toMatchObject({ status: 200 });
    },
  );

  it.each([
    [
      'a malformed body',
      'POST /plants HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n',
      'zz\r\n',
      400,
    ],
    ['CONNECT', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n', '', 405],
  ])('answers the requests before %s first, in their order', async (_what, head, body, status) => {
    const authorization = 'Authorization: Bearer test-token\r\nContent-Type: application/json\r\n';
    const create = (id: number) => {
      const json = `{"id":${id},"name":"x"}`;
      return `POST /plants HTTP/1.1\r\nHost: x\r\n${authorization}Content-Length: ${json.length}\r\n\r\n${json}`;
    };
    const requests = `${create(91)}${create(92)}${head}${authorization}\r\n${body}`;
    const { replies } = await sendRaw(server.url, requests);
    expect(replies.map((reply) => reply.status)).toEqual([200, 200, status]);
  });

  it('gives the answers that are due before one that has been given and goes wrong then', async () => {
    const slow = Promise.withResolvers<void>();
    const waiting = await startServerOn(server.store, {
      create: async ({ name }) => {
        await slow.promise;
        return { name };
      },
    });
    const first =
      'POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer test-token\r\n' +
      'Content-Type: application/json\r\nContent-Length: 19\r\n\r\n{"id":1,"name":"x"}';
    const second = 'POST /plants HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
    for (const requests of [`${first}${second}`, `${first}${second}zz\r\n`]) {
      const socket = connect(Number(new URL(waiting.url).port), '127.0.0.1');
      let text = '';
      socket.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      const seen = waiting.log.length;
      socket.write(requests);
      if (!requests.endsWith('zz\r\n')) {
        await fetch(`${waiting.url}/livez`); // Both requests have been read by then.
        await vi.waitFor(() => expect(waiting.log.length).toBeGreaterThan(seen));
        socket.write('zz\r\n');
      }
      await fetch(`${waiting.url}/livez`);
      slow.resolve();
      await once(socket, 'close');
      expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 401']);
    }
    await waiting.stop();
  });

  it('gives one answer to one request, though its body goes wrong after that', async () => {
    const head = 'POST /plants HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
    expect((await sendRaw(server.url, head, { afterReply: 'zz\r\n' })).replies).toMatchObject([
      { status: 401 },
    ]);
  });

  it('does not take a client that leaves for a bug', async () => {
    const seen = server.log.length;
    const head =
      'POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer test-token\r\n' +
      'Content-Type: application/json\r\nContent-Length: 99\r\nExpect: 100-continue\r\n\r\n';
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.write(head);
    await once(socket, 'data'); // It is let in, and its body waited for.
    socket.destroy();
    await once(socket, 'close');
    const lines = () => server.log.slice(seen).map((line) => JSON.parse(line));
    await expect.poll(lines).toMatchObject([{ level: 30, status: 400, errors: [40002] }]);
  });

  it.each(surfaces)(
    'asks for a body over $name only once the token is known to be good',
    async ({ path }) => {
      const ask = (token: string) =>
        `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\n` +
        `Content-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n`;
      const welcome = await sendRaw(server.url, ask(server.token), { afterReply: '{}' });
      expect(welcome.replies).toMatchObject([{ status: 100 }, { status: 400 }]);
      const unwelcome = await sendRaw(server.url, ask('wrong'));
      expect(unwelcome.replies).toMatchObject([{ status: 401 }]);
    },
  );
});

/** A create that fails: with an error of the catalogue, or as only a bug would. */
function failing(kind?: 'databaseUnavailable' | 'overloaded') {
  return async () => {
    throw kind ? new PlantStoreError(kind, 'not now') : new TypeError('a bug');
  };
}

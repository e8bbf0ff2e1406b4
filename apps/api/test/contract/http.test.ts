import { describe, expect, it } from 'vitest';
import {
  bearer,
  close,
  contentType,
  expectError,
  lastRequest,
  rawPost,
  rawRequest,
  sendRaw,
} from '../fixtures/raw-request.ts';
import { shareServer, storedPlants, token } from '../fixtures/server.ts';
import { post, surfaces } from '../fixtures/surfaces.ts';

const server = shareServer();
const authorization = bearer(token);

/** Sends a request with this target and the token. `fetch` would change the target. */
const send = (method: string, target: string) =>
  sendRaw(server.url, rawRequest(`${method} ${target}`, [close, authorization], ''));

describe('paths and methods', () => {
  it.each([
    ...['/plant', '/Plants', '/PLANTS', '//plants', '/trpc', '/%2fplants', '/plants%00'],
    ...['/../plants;x', '/plants%2F1', '/trpc%2FcreatePlant', '/plants/', '/plants/1/'],
    ...['/trpc/', '/trpc/createPlant/', 'ftp://x/livez'],
  ])('the path %s gets 40400 with every method', async (path) => {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS']) {
      expectError(await send(method, path), 40400);
    }
    expect(await send('HEAD', path)).toMatchObject({ status: 404, body: '' });
  });

  it.each([
    ['DELETE', '/plants?x=1', ['GET', 'HEAD', 'POST']],
    ['PROPFIND', '/plants', ['GET', 'HEAD', 'POST']],
    ['TRACE', '/%70lants', ['GET', 'HEAD', 'POST']],
    ['POST', '/plants/1', ['DELETE', 'GET', 'HEAD', 'PUT']],
    ['PATCH', '/plants/batch', ['POST']],
    ['GET', '/plants/batch', ['POST']],
    ['PUT', '/plants/batch', ['POST']],
    ['POST', '/plants/count', ['GET', 'HEAD']],
    ['DELETE', '/plants/count', ['GET', 'HEAD']],
    ['PATCH', '/plants/changes', ['GET', 'HEAD']],
    ['PUT', '/whoami', ['GET', 'HEAD']],
    ['POST', '/livez', ['GET', 'HEAD']],
    ['POST', '/openapi.json', ['GET', 'HEAD']],
  ])('%s %s gets 40500, and Allow names %j', async (method, path, allowed) => {
    const response = await send(method, path);
    expectError(response, 40500);
    expect(response.headers.get('allow')?.split(', ')).toEqual(allowed);
    for (const each of allowed) expect((await send(each, path)).status).not.toBe(405);
  });

  it.each([
    ...['/', '/livez', '/readyz', '/docs', '/openapi.json', '/favicon.ico', '/plants', '/whoami'],
    ...['/plants/-5', '/plants/x', '/plants/count', '/plants/changes', '/plants%zz', '/nothing'],
    ...['/trpc', '/trpc/createPlant', '/trpc/nothing?batch=1', '/trpc/listPlants'],
  ])('HEAD %s gets the status and the length of GET, but no body', async (path) => {
    for (const headers of [[], [authorization]]) {
      const request = (method: string) => rawRequest(`${method} ${path}`, [close, ...headers]);
      const [get, head] = await Promise.all(
        ['GET', 'HEAD'].map((method) => sendRaw(server.url, request(method))),
      );
      expect(head).toMatchObject({ status: get?.status, body: '' });
      const length = get?.headers.get('content-length');
      if (length) expect(head?.headers.get('content-length')).toBe(length);
    }
  });

  it('a request target may be in absolute form', async () => {
    expect(await send('GET', 'http://example.com/livez')).toMatchObject({ status: 200 });
  });
});

describe('malformed requests', () => {
  it.each([
    ...['/%zz', '/plants%', '/plants%zz', '/%ff', '/trpc/%zz', '/trpc/createPlant%ff?batch=1'],
    ...['/plants/%ff', '/plants/%zz', 'http://x/%zz', '/plants?tag=%ff', '/plants/1?%zz=1'],
  ])('the target %s gets 40002', async (target) => {
    const response = await send('GET', target);
    expectError(response, 40002);
    expect(response.body.startsWith('{"error":{')).toBe(target.startsWith('/trpc/'));
  });

  const create = (...headers: string[]) => rawRequest('POST /trpc/createPlant', headers);
  const chunked = [authorization, contentType, 'Transfer-Encoding: chunked'];

  it.each([
    ['bytes that are not HTTP', 'hello\r\n\r\n', 40000],
    ['a request without Host', `GET /livez HTTP/1.1\r\n${close}\r\n\r\n`, 40002],
    ['two Host headers', rawRequest('GET /livez', ['host: y', close]), 40002],
    ['an invalid header', rawRequest('GET /', ['A b: c']), 40000],
    ['two Content-Type headers', rawPost('{}', '/plants', [close, contentType]), 41500],
    ['HTTP/3.0', 'GET /livez HTTP/3.0\r\nHost: x\r\n\r\n', 40000],
    ['CONNECT', 'CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n', 40500],
    ['long headers', rawRequest('POST /plants', [`A: ${'a'.repeat(20_000)}`]), 43100],
    ['an unknown method', rawRequest('BREW /plants'), 40000],
    ['tRPC without Host', `POST /trpc/createPlant HTTP/1.1\r\n${close}\r\n\r\n`, 40002],
    ['tRPC with an invalid Host', create(close).replace('Host: x', 'Host: a b'), 40002],
    ['an unknown expectation', create('Expect: cake', close), 41700],
    ['a transfer coding', create(authorization, 'Transfer-Encoding: gzip, chunked', close), 50100],
    ['QUERY', rawRequest('QUERY /nothing', [authorization, close]), 40400],
    ['QUERY of a known path', rawRequest('QUERY /plants', [authorization, close]), 40500],
    ['an invalid chunk', `${create(...chunked)}xyz\r\n`, 40000],
  ] as [string, string, number][])(
    '%s causes an error of the contract',
    async (_what, bytes, code) => {
      expectError(await sendRaw(server.url, bytes), code);
    },
  );

  it.each(['a b/c', 'a,b', 'user@x', 'x:999999', 'x:-1', ':80', '[::1', '[::g]', 'x/', 'http://x'])(
    'the Host %j gets 400 at every path',
    async (host) => {
      for (const path of ['/livez', '/nowhere', '/plants']) {
        const request = rawRequest(`GET ${path}`, [close]).replace('Host: x', `Host: ${host}`);
        expect((await sendRaw(server.url, request)).status).toBe(400);
      }
    },
  );

  it('HTTP/1.0 needs no Host', async () => {
    const bytes = 'GET /livez HTTP/1.0\r\n\r\n';
    expect((await sendRaw(server.url, bytes)).status).toBe(200);
  });
});

describe('the end of a request', () => {
  const plant = '{"id":1,"name":"x"}';

  /** Writes the head of a create, with headers that contradict each other about the body's end. */
  const head = (...headers: string[]) =>
    rawRequest('POST /plants', [authorization, contentType, ...headers]);

  /** A create that an attacker hides in the body of another request. */
  const hidden = rawPost(plant);

  const isNotExecuted = async () => expect(await storedPlants(server)).toEqual([]);

  it.each([
    ['a length before chunked coding', 'Content-Length: 5\r\nTransfer-Encoding: chunked'],
    ['chunked coding before a length', 'Transfer-Encoding: chunked\r\nContent-Length: 5'],
    ['chunked coding twice', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked'],
    ['an unknown coding that resembles chunked', 'Transfer-Encoding: xchunked'],
    ['chunked coding on a folded line', 'Transfer-Encoding:\r\n chunked\r\nContent-Length: 5'],
    ['two lengths', 'Content-Length: 5\r\nContent-Length: 6'],
    ['a bare line feed', 'A: b\nContent-Length: 5'],
  ])('is ambiguous with %s, so a hidden request is not executed', async (_what, headers) => {
    for (const body of [`0\r\n\r\n${hidden}`, hidden]) {
      const { responses } = await sendRaw(server.url, head(headers) + body);
      expect(responses).toMatchObject([{ body: expect.stringMatching(/"error":(40000|50100),/) }]);
    }
    await isNotExecuted();
  });

  it.each([
    ['a request with Connection: close', lastRequest, [200, 200]],
    ['a request of HTTP/1.0', 'GET /livez HTTP/1.0\r\n\r\n', [200, 200]],
    ['an unknown method', rawRequest('BREW /plants'), [200]],
    ['malformed bytes', rawRequest('GET /', ['A b: c']), [200]],
  ])('is the end of the connection after %s', async (_what, request, statuses) => {
    const { responses } = await sendRaw(
      server.url,
      lastRequest.replace(close, 'A: b') + request + hidden,
    );
    expect(responses.map((response) => response.status)).toEqual(statuses);
    await isNotExecuted();
  });
});

describe.each(surfaces)('a body over $name', (surface) => {
  const plant = '{"id":7,"name":"x"}';
  const wrapped = surface.name === 'tRPC' ? `{"json":${plant}}` : plant;
  const code = (error: number) => expect.stringContaining(`"error":${error},`);

  it.each(['{', '{"id":1,}', 'undefined', "{'id':1}", '[1e1,'.padEnd(19_000, '[')])(
    'that is not JSON gets 40000 (%#)',
    async (json) => {
      expect(await surface.send(server, json)).toMatchObject({ status: 400, error: 40000 });
    },
  );

  it('that is not UTF-8 gets 40000', async () => {
    const response = await post(server, surface.path, new Uint8Array([0x22, 0xff, 0xfe, 0x22]));
    expect([response.status, await response.text()]).toEqual([400, code(40000)]);
  });

  it.each([
    'application/json; charset=utf-8',
    'Application/JSON;charset="UTF-8"; v=1',
    'application/json;',
  ])('is accepted with the content type %s', async (type) => {
    expect((await surface.send(server, plant, { 'content-type': type })).status).toBe(200);
  });

  it.each([
    ...['text/plain', 'application/jsonl', 'application/json; charset=latin1', '*/*'],
    ...['multipart/form-data', 'application/x-www-form-urlencoded'],
    ...['application/json, application/json', 'application/json; charset='],
  ])('with the content type %s gets 41500', async (type) => {
    const response = await surface.send(server, plant, { 'content-type': type });
    expect(response).toMatchObject({ status: 415, error: 41500 });
  });

  it('without a content type, or with a content encoding, gets 41500', async () => {
    const headers = { authorization: `Bearer ${token}` };
    const body = new Blob([wrapped]); // The Blob has no type, so fetch adds no Content-Type.
    const response = await fetch(server.url + surface.path, { method: 'POST', headers, body });
    expect([response.status, await response.text()]).toEqual([415, code(41500)]);
    const encoded = await post(server, surface.path, wrapped, { 'content-encoding': 'gzip' });
    expect([encoded.status, await encoded.text()]).toEqual([415, code(41500)]);
  });

  const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
  const tooLong = ' '.repeat(2 ** 20 + 1);

  it.each([
    ['of 3 MiB in chunks', 'Transfer-Encoding: chunked', `${chunk.repeat(48)}0\r\n\r\n`],
    ['of 3 MiB with a length', `Content-Length: ${3 * 2 ** 20}`, ' '.repeat(3 * 2 ** 20)],
    [
      ...['of 1 MiB and a byte in chunks', 'Transfer-Encoding: chunked'],
      `100001\r\n${tooLong}\r\n0\r\n\r\n`,
    ],
    ['of 1 MiB and a byte with a length', `Content-Length: ${tooLong.length}`, tooLong],
  ] as [string, string, string][])(
    '%s gets 41300, and the client can read it',
    async (_how, framing, body) => {
      const head = rawRequest(`POST ${surface.path}`, [authorization, contentType, framing]);
      const { responses } = await sendRaw(server.url, head + body + lastRequest);
      expect(responses[0]).toMatchObject({ status: 413, body: code(41300) });
    },
  );

  it('gets a response after the head `Expect: 100-continue`', async () => {
    const headers = ['Expect: 100-continue', close];
    const { text } = await sendRaw(server.url, rawPost(wrapped, surface.path, headers));
    expect(text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/);
    const headers401 = [contentType, ...headers];
    const rejected = await sendRaw(
      server.url,
      rawRequest(`POST ${surface.path}`, headers401, '{}'),
    );
    expect(rejected.text).toMatch(/^HTTP\/1\.1 401 /);
  });
});

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

/** Sends a request with the token and an unchanged target. `fetch` would change some targets. */
const send = (method: string, target: string) =>
  sendRaw(server.url, rawRequest(`${method} ${target}`, [close, authorization], ''));

describe('paths and methods', () => {
  it.each([
    ...['/plant', '/Plants', '/PLANTS', '//plants', '/trpc', '/%2fplants', '/plants%00'],
    ...['/../plants;x', '/plants%2F1', '/trpc%2FcreatePlant', '/plants/1/', 'ftp://x/livez'],
  ])('the path %s gets 40400, even with the methods OPTIONS and PROPFIND', async (path) => {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND']) {
      expectError(await send(method, path), 40400);
    }
    const malformed = rawRequest(`POST ${path}`, [close, 'Content-Type: ;'], '{}');
    expectError(await sendRaw(server.url, malformed), 40400);
    expect(await send('HEAD', path)).toMatchObject({ status: 404, body: '' });
  });

  it.each([
    ['DELETE', '/plants?x=1', ['GET', 'HEAD', 'POST']],
    ['OPTIONS', '/plants', ['GET', 'HEAD', 'POST']],
    ['QUERY', '/plants', ['GET', 'HEAD', 'POST']],
    ['PROPFIND', '/plants/1', ['DELETE', 'GET', 'HEAD', 'PUT']],
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
  ])('%s %s gets 40500, and the header Allow names %j', async (method, path, allowed) => {
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

  it.each([
    ['with an absolute target', 'GET http://example.com/livez HTTP/1.1\r\nHost: x'],
    ['of HTTP/1.0 without Host', 'GET /livez HTTP/1.0'],
  ])('a request %s is accepted', async (_what, head) => {
    const { status } = await sendRaw(server.url, `${head}\r\n${close}\r\n\r\n`);
    expect(status).toBe(200);
  });
});

describe('malformed requests', () => {
  it.each([
    ...['/%zz', '/plants%', '/plants%zz', '/%ff', '/trpc/%zz', '/trpc/createPlant%ff?batch=1'],
    ...['/plants/%ff', '/plants/%zz', 'http://x/%zz', '/plants?tag=%ff', '/plants/1?%zz=1'],
  ])('the target %s gets 40002', async (target) => {
    const response = await send('GET', target);
    expectError(response, 40002);
  });

  const create = (...headers: string[]) => rawRequest('POST /trpc/createPlant', headers);
  const chunked = [authorization, contentType, 'Transfer-Encoding: chunked'];

  it.each([
    ['bytes that are not HTTP', 'hello\r\n\r\n', 40000],
    ['a request without Host', `GET /livez HTTP/1.1\r\n${close}\r\n\r\n`, 40002],
    ['two Host headers', rawRequest('GET /livez', ['host: y', close]), 40002],
    ['an invalid header', rawRequest('GET /', ['A b: c']), 40000],
    ['two Content-Type headers', rawPost('{}', '/plants', [close, contentType]), 41500],
    ['a request of HTTP/3.0', 'GET /livez HTTP/3.0\r\nHost: x\r\n\r\n', 40000],
    ['long headers', rawRequest('POST /plants', [`A: ${'a'.repeat(20_000)}`]), 43100],
    ['an unknown method', rawRequest('BREW /plants'), 40000],
    ['a tRPC call without Host', `POST /trpc/createPlant HTTP/1.1\r\n${close}\r\n\r\n`, 40002],
    ['a tRPC call with an invalid Host', create(close).replace('Host: x', 'Host: a b'), 40002],
    ['an unknown expectation', create('Expect: cake', close), 41700],
    ['QUERY at an unknown path', rawRequest('QUERY /nothing', [authorization, close]), 40400],
    ['an invalid chunk', `${create(...chunked)}xyz\r\n`, 40000],
  ] as [string, string, number][])(
    'the response to %s is an error of the contract',
    async (_what, bytes, code) => {
      expectError(await sendRaw(server.url, bytes), code);
    },
  );

  it.each(['a b/c', 'a,b', 'user@x', 'x:999999', 'x:-1', ':80', '[::1', '[::g]', 'x/', 'http://x'])(
    'the invalid Host %j gets 400 at known and unknown paths',
    async (host) => {
      for (const path of ['/livez', '/nowhere', '/plants']) {
        const request = rawRequest(`GET ${path}`, [close]).replace('Host: x', `Host: ${host}`);
        expect((await sendRaw(server.url, request)).status).toBe(400);
      }
    },
  );
});

describe('a request with an ambiguous end', () => {
  /** A create that an attacker hides in the body of another request. */
  const hidden = rawPost('{"id":1,"name":"x"}');

  it.each([
    ['a length before chunked coding', 'Content-Length: 5\r\nTransfer-Encoding: chunked'],
    ['chunked coding before a length', 'Transfer-Encoding: chunked\r\nContent-Length: 5'],
    ['an unknown coding that resembles chunked', 'Transfer-Encoding: xchunked'],
    ['chunked coding on a folded line', 'Transfer-Encoding:\r\n chunked\r\nContent-Length: 5'],
    ['two lengths', 'Content-Length: 5\r\nContent-Length: 6'],
    ['a bare line feed', 'A: b\nContent-Length: 5'],
  ])('is rejected because of %s, and hides no other request', async (_what, headers) => {
    const head = rawRequest('POST /plants', [authorization, contentType, headers]);
    for (const body of [`0\r\n\r\n${hidden}`, hidden]) {
      const { responses } = await sendRaw(server.url, head + body);
      expect(responses).toMatchObject([{ body: expect.stringContaining('"error":40000,') }]);
    }
    expect(await storedPlants(server)).toEqual([]);
  });
});

describe.each(surfaces)('a body over $name', (surface) => {
  const plant = '{"id":7,"name":"x"}';
  const wrapped = surface.name === 'tRPC' ? `{"json":${plant}}` : plant;
  const code = (error: number) => expect.stringContaining(`"error":${error},`);

  it.each(['', '{', '{"id":1,}', 'undefined', "{'id':1}"])(
    'that is not JSON gets 40000 (%j)',
    async (json) => {
      expect(await surface.send(server, json)).toMatchObject({ status: 400, error: 40000 });
    },
  );

  it('that is not UTF-8, or has more than 500 levels of nesting, gets 40000', async () => {
    const nested = (depth: number) =>
      wrapped.replace('"x"', `"x","more":${'['.repeat(depth)}${']'.repeat(depth)}`);
    expect((await post(server, surface.path, nested(490))).status).toBe(200);
    const bytes = new Uint8Array([0x22, 0xff, 0xfe, 0x22]);
    for (const body of [bytes, nested(500), nested(100_000)]) {
      const response = await post(server, surface.path, body);
      expect([response.status, await response.text()]).toEqual([400, code(40000)]);
    }
  });

  it.each([
    'application/json; charset=utf-8',
    'Application/JSON;charset="UTF-8"; v=1',
    'application/json;',
  ])('is accepted with the content type %s', async (type) => {
    expect((await surface.send(server, plant, { 'content-type': type })).status).toBe(200);
  });

  it.each([
    {},
    ...[
      ...['text/plain', 'application/jsonl', 'application/json; charset=latin1', '*/*'],
      ...['multipart/form-data', 'application/x-www-form-urlencoded'],
      ...['application/json, application/json', 'application/json; charset='],
    ].map((type) => ({ 'content-type': type })),
    { 'content-type': 'application/json', 'content-encoding': 'gzip' },
  ])('with the headers %j gets 41500', async (headers) => {
    const all = { authorization: `Bearer ${token}`, ...headers };
    const body = new Blob([wrapped]); // The Blob has no type, so `fetch` adds no Content-Type.
    const response = await fetch(server.url + surface.path, { method: 'POST', headers: all, body });
    expect([response.status, await response.text()]).toEqual([415, code(41500)]);
  });

  it('of 1 MiB is accepted', async () => {
    const name = 'a'.repeat(2 ** 20 - wrapped.length + 1);
    const body = wrapped.replace('7', surface.name === 'REST' ? '8' : '9').replace('x', name);
    expect([body.length, (await post(server, surface.path, body)).status]).toEqual([2 ** 20, 200]);
  });

  it.each([2 ** 20 + 1, 3 * 2 ** 20])(
    'of %i bytes gets 41300, and the client can read the response',
    async (length) => {
      const body = ' '.repeat(length);
      for (const [framing, bytes] of [
        [`Content-Length: ${length}`, body],
        ['Transfer-Encoding: chunked', `${length.toString(16)}\r\n${body}\r\n0\r\n\r\n`],
      ] as const) {
        const head = rawRequest(`POST ${surface.path}`, [authorization, contentType, framing]);
        const { responses } = await sendRaw(server.url, head + bytes + lastRequest);
        expect(responses[0]).toMatchObject({ status: 413, body: code(41300) });
      }
    },
  );

  it('with Expect: 100-continue gets 100 Continue, and then the response', async () => {
    const headers = ['Expect: 100-continue', close];
    const { text } = await sendRaw(server.url, rawPost(wrapped, surface.path, headers));
    expect(text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/);
  });
});

import { readFile } from 'node:fs/promises';
import { connect as connectHttp2 } from 'node:http2';
import { connect, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { errorCatalogue } from '@plant-store/schemas';
import { freePort, listen } from '@plant-store/test-setup';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { eventSurfaces } from '../fixtures/event-surfaces.ts';
import { type RunningServer, startServer } from '../fixtures/running-server.ts';
import { post } from '../fixtures/surfaces.ts';
import { hasNginx, startNginx, type TestNginx } from './start-nginx.ts';

/** Sends bytes to nginx unchanged. Returns all bytes that nginx sends before the end of the connection. */
async function sendBytes(socket: Socket, bytes: string): Promise<string> {
  socket.on('error', () => {});
  socket.write(bytes);
  return text(socket);
}

const connectOverTls = ({ port }: TestNginx) => connectTls({ port, host: '127.0.0.1' });

const { bodyTooLarge, databaseUnavailable, malformedRequest, methodNotAllowed } = errorCatalogue;
const { headersTooLarge, idTaken, pathUnknown, tokenMissing } = errorCatalogue;

/** Checks that nginx itself sent the response, and that the response has the contract's error format. */
async function expectError(response: Response, { code }: { code: number }): Promise<void> {
  expect(await response.json()).toEqual({ error: code, message: expect.any(String) });
  expect(response.status).toBe(Math.floor(code / 100));
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(response.headers.get('x-request-id')).toMatch(/^[\da-f]{32}$/);
}

function expectErrorText(response: string, { code }: { code: number }): void {
  expect(response).toMatch(new RegExp(`^HTTP/1.1 ${Math.floor(code / 100)} `));
  expect(response).toContain('\r\nContent-Type: application/json\r\n');
  const body = JSON.parse(response.slice(response.indexOf('\r\n\r\n')));
  expect(body).toHaveProperty('error', code);
}

const token = 'test-token';
const headers = { authorization: `Bearer ${token}` };
const create = ({ url }: TestNginx, id: number, name = 'Hoya', path = '/plants') =>
  post({ url, token }, path, JSON.stringify({ id, name }));

it('docs/nginx.conf has only errors of the catalogue, each with the right status', async () => {
  const file = await readFile(new URL('../../../../docs/nginx.conf', import.meta.url), 'utf8');
  const lines = [...file.matchAll(/^ {2}(\d+|default) '(\{"error".*\})';$/gm)];
  expect(lines.length).toBeGreaterThan(5);
  const codes = Object.values(errorCatalogue).map(({ code }) => code);
  for (const [, status = '', body = ''] of lines) {
    const { error } = JSON.parse(body);
    expect(codes).toContain(error);
    expect(Math.floor(error / 100)).toBe(status === 'default' ? 500 : Number(status));
  }
});

describe.runIf(hasNginx)('nginx with the configuration docs/nginx.conf', () => {
  describe('in front of an instance', () => {
    let server: RunningServer;
    let nginx: TestNginx;

    beforeAll(async () => {
      server = await startServer({ trustProxy: ['127.0.0.1'] });
      nginx = await startNginx([server.url]);
    });

    afterAll(async () => {
      await nginx.stop();
      await server.stop();
    });

    it('forwards requests and responses, and adds a request id', async () => {
      const response = await create(nginx, 1);
      expect([response.status, await response.text()]).toEqual([200, '{"name":"Hoya"}']);
      const requestId = response.headers.get('x-request-id');
      expect(requestId).toMatch(/^[\da-f]{32}$/);
      expect(server.log.at(-1)).toContain(`"reqId":"${requestId}"`);
    });

    it('forwards the errors of the store', async () => {
      await create(nginx, 2);
      const taken = await create(nginx, 2, 'Ficus');
      const anonymous = await fetch(`${nginx.url}/plants`);
      const absent = await fetch(`${nginx.url}/absent`);
      expect(await taken.json()).toHaveProperty('error', idTaken.code);
      expect(await anonymous.json()).toHaveProperty('error', tokenMissing.code);
      expect(anonymous.headers.get('www-authenticate')).toBe('Bearer realm="plant-store"');
      expect(await absent.json()).toHaveProperty('error', pathUnknown.code);
    });

    it.each([
      ['REST', 'DELETE', '/plants/5', ''],
      ['REST under a path prefix', 'DELETE', '/store/plants/5', '/store'],
      ['tRPC', 'POST', '/trpc/deletePlant', ''],
      ['tRPC under a path prefix', 'POST', '/store/trpc/deletePlant', '/store'],
    ])('forwards creates and deletes over %s', async (_, method, path, prefix) => {
      const created = await create(nginx, 5, 'Hoya', `${prefix}/plants`);
      expect([created.status, await created.text()]).toEqual([200, '{"name":"Hoya"}']);
      const isPost = method === 'POST';
      const remove = () =>
        isPost
          ? post({ url: nginx.url, token }, path, '{"json":{"id":5}}')
          : fetch(nginx.url + path, { method, headers });
      expect((await remove()).status).toBe(isPost ? 200 : 204);
      const again = await remove();
      expect([again.status, await again.text()]).toEqual([404, expect.stringContaining('40401')]);
    });

    it.each(eventSurfaces)('forwards the events of $name over HTTP/2', async (surface) => {
      const session = connectHttp2(nginx.url);
      onTestFinished(() => session.destroy());
      const path = `/store${surface.path}`;
      const feed = session.request({ ':path': path, ...headers, ...surface.headers });
      let received = '';
      feed.setEncoding('utf8').on('data', (text: string) => {
        received += text;
      });
      const receives = (text: string) =>
        vi.waitFor(() => expect(received).toContain(text), { timeout: 60_000 });
      await receives('id: ');
      await create(nginx, 6, 'Pilea');
      await receives('Pilea');
      await server.store.delete(6n);
    });

    it('keeps its connection to the store open', async () => {
      for (let id = 10; id < 15; id++) await create(nginx, id);
      await expect.poll(() => server.connections()).toBe(1);
    });

    it('forwards the headers that the store accepts', async () => {
      const { status } = await fetch(`${nginx.url}/livez`, { headers: { a: 'a'.repeat(14_000) } });
      expect(status).toBe(200);
    });

    it.each([
      ['with its length', (body: Blob) => body],
      ['in chunks', (body: Blob) => body.stream()],
    ])('responds with 41300 to a body of 1.1 MB %s', async (_, bodyOf) => {
      const body = bodyOf(new Blob(['a'.repeat(1_100_000)]));
      const response = await fetch(`${nginx.url}/plants`, { method: 'POST', body, duplex: 'half' });
      await expectError(response, bodyTooLarge);
    });

    it('responds to TRACE with 40500 and Allow', async () => {
      const bytes = 'TRACE /plants HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
      const response = await sendBytes(connectOverTls(nginx), bytes);
      expectErrorText(response, methodNotAllowed);
      expect(response).toContain('\r\nAllow: DELETE, GET, HEAD, POST\r\n');
    });

    it.each(['/plant-store-error', '/plant-store-ready'])(
      'responds with 40400 to a request for the internal path %s',
      async (path) => {
        await expectError(await fetch(nginx.url + path), pathUnknown);
      },
    );

    it.each([
      ['a header without a colon', 'GET / HTTP/1.1\r\nno header\r\n\r\n', malformedRequest],
      ['a request that is not HTTP', 'what is this?\r\n\r\n', malformedRequest],
      ['an invalid escape', 'GET /plants%zz HTTP/1.1\r\nHost: x\r\n\r\n', malformedRequest],
      ['no host', 'GET / HTTP/1.1\r\n\r\n', malformedRequest],
      ['another version of HTTP', 'GET / HTTP/3.0\r\nHost: x\r\n\r\n', malformedRequest],
      [
        'an unknown transfer coding',
        'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: cake\r\n\r\n',
        malformedRequest,
      ],
      ['a long target', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\n\r\n`, headersTooLarge],
      ['a long header', `GET / HTTP/1.1\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`, headersTooLarge],
    ])('rejects %s with an error of the contract', async (_, bytes, error) => {
      expectErrorText(await sendBytes(connectOverTls(nginx), bytes), error);
    });

    it('rejects HTTP on the port for HTTPS with an error of the contract', async () => {
      const socket = connect({ port: nginx.port, host: '127.0.0.1' });
      const response = await sendBytes(socket, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      expectErrorText(response, malformedRequest);
    });
  });

  describe('in front of instances that do not respond', () => {
    const start = async (...options: Parameters<typeof startNginx>) => {
      const nginx = await startNginx(...options);
      onTestFinished(nginx.stop);
      return nginx;
    };

    /** Starts a fake instance, which calls a function for each connection. */
    async function startInstance(onConnection: (socket: Socket) => void): Promise<string> {
      const sockets: Socket[] = [];
      const instance = createServer((socket) => {
        sockets.push(socket.on('error', () => {}));
        onConnection(socket);
      });
      const url = await listen(instance);
      onTestFinished(() => {
        for (const socket of sockets) socket.destroy();
        instance.close();
      });
      return url;
    }

    /** Starts a fake instance that responds as a server does during its shutdown. */
    async function startClosing(): Promise<string> {
      const server = await startServer();
      onTestFinished(server.stop);
      await server.store.close();
      return server.url;
    }

    const absent = async () => `http://127.0.0.1:${await freePort()}`;

    it.each([
      ['that is down', absent],
      ['that closes the connection', () => startInstance((socket) => socket.end())],
      [
        'whose response is not HTTP',
        () => startInstance((socket) => socket.end('HTTP/1.1 200 OK\r\nno header\r\n\r\n')),
      ],
      ['that is silent', () => startInstance(() => {})],
    ])('responds with 50300 for an instance %s', async (_, instance) => {
      const nginx = await start([await instance()], '100ms');
      const response = await create(nginx, 1);
      await expectError(response, databaseUnavailable);
      expect(response.headers.get('retry-after')).toBe('1');
      const remove = await fetch(`${nginx.url}/plants/1`, { method: 'DELETE' });
      await expectError(remove, databaseUnavailable);
      const head = await fetch(`${nginx.url}/plants`, { method: 'HEAD' });
      expect([head.status, await head.text()]).toEqual([503, '']);
    });

    it('uses another instance when the first instance is down, shuts down or is silent', async () => {
      const server = await startServer();
      onTestFinished(server.stop);
      const silent = await startInstance(() => {});
      for (const other of [await absent(), await startClosing(), silent]) {
        const nginx = await start([other, server.url], '3s');
        const ids = [1, 2, 3, 4];
        const creates = await Promise.all(ids.map((id) => create(nginx, id)));
        expect(creates.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
        const remove = { method: 'DELETE', headers };
        const deletes = await Promise.all(
          ids.map((id) => fetch(`${nginx.url}/plants/${id}`, remove)),
        );
        expect(deletes.map(({ status }) => status)).toEqual([204, 204, 204, 204]);
      }
    });

    const reactions: [name: string, react: (socket: Socket) => void][] = [
      ['closes the connection', (socket) => socket.end()],
      ['resets the connection', (socket) => socket.resetAndDestroy()],
      ['responds with 503', (socket) => socket.end('HTTP/1.1 503 Busy\r\n\r\n')],
      ['is silent', () => {}],
    ];

    /** Sends requests through nginx. Returns the statuses, and the requests that two instances received. */
    async function sendThrough(
      requests: string[],
      react: (socket: Socket) => void,
      ready = '200 OK',
      file?: Parameters<typeof startNginx>[2],
    ) {
      const received: string[] = [];
      const statuses: number[] = [];
      const instance = () =>
        startInstance((socket) => {
          socket.on('data', (bytes) => {
            const [line = ''] = String(bytes).split(' HTTP');
            if (line === 'GET /readyz') {
              socket.write(`HTTP/1.1 ${ready}\r\nContent-Length: 0\r\n\r\n`);
              return;
            }
            received.push(line);
            react(socket);
          });
        });
      const nginx = await start([await instance(), await instance()], '100ms', file);
      for (const [method = '', path = ''] of requests.map((each) => each.split(' '))) {
        const { status } = await fetch(nginx.url + path, { method });
        statuses.push(status);
      }
      return { received, statuses };
    }

    /** Ignores the order of the requests, because a busy instance may read a request late. */
    const expectLines = (received: readonly string[], expected: readonly string[]) =>
      expect.poll(() => received.toSorted()).toEqual(expected.toSorted());

    const creation = 'POST /plants';
    const remove = 'DELETE /plants/1';
    const removeOverTrpc = 'POST /trpc/deletePlant';

    it.each(
      reactions.flatMap(([name, react]) =>
        ['200 OK', '503 Busy'].map((ready) => [name, ready, react] as const),
      ),
    )(
      'repeats a create, but never a delete, when an instance %s and /readyz responds with %s',
      async (_, ready, react) => {
        const batch = 'POST /trpc/createPlant,delete%50lant?batch=1';
        const createOverTrpc = 'POST /trpc/createPlant';
        const requests = [creation, remove, 'DELETE /store/plants/2', removeOverTrpc, batch];
        const all = [...requests, createOverTrpc];
        const { received, statuses } = await sendThrough(all, react, ready);
        expect(statuses).toEqual(all.map(() => 503));
        await expectLines(received, [
          ...[creation, creation, remove, 'DELETE /plants/2', removeOverTrpc, batch],
          ...[createOverTrpc, createOverTrpc],
        ]);
      },
    );

    it.each(['/plants/changes?wait=20', '/store/plants/changes?wait=20', '/trpc/plantChanges'])(
      'forwards each part of the response to %s at once, even after a pause beyond the usual timeout',
      async (path) => {
        const feed = Promise.withResolvers<Socket>();
        const instance = await startInstance((socket) => {
          socket.on('data', (bytes) => {
            if (String(bytes).startsWith(`GET ${path.replace('/store', '')} `))
              feed.resolve(socket);
          });
        });
        const nginx = await start([instance], '100ms');
        const socket = connectOverTls(nginx);
        socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
        const upstream = await feed.promise;
        // The feed sends nothing for so long that a request for `/plants` would time out.
        await expectError(await fetch(`${nginx.url}/plants`), databaseUnavailable);
        let received = '';
        socket.setEncoding('utf8').on('data', (text: string) => {
          received += text;
        });
        upstream.write('HTTP/1.1 200 OK\r\n\r\ndata: 1');
        await vi.waitFor(() => expect(received).toMatch(/data: 1\r\n$/), { timeout: 60_000 });
        upstream.end();
      },
    );

    it('forwards the 503 of the store when all instances shut down', async () => {
      const nginx = await start([await startClosing()]);
      const response = await create(nginx, 1);
      expect(response.status).toBe(503);
      expect(await response.json()).toHaveProperty('error', errorCatalogue.shuttingDown.code);
      expect(response.headers.get('retry-after')).toBe('1');
    });
  });
});

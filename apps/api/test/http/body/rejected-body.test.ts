import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { sendRaw } from '../../fixtures/raw-request.ts';
import { shareServer } from '../../fixtures/running-server.ts';
import { surfaces } from '../../fixtures/surfaces.ts';

const size = 3 * 2 ** 20;
const server = shareServer();

const head = (path: string, headers: string) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer test-token\r\n` +
  `Content-Type: application/json\r\n${headers}\r\n\r\n`;
const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
const bodies = [
  ['in chunks', 'Transfer-Encoding: chunked', `${chunk.repeat(size / 0x10000)}0\r\n\r\n`],
  ['with a length', `Content-Length: ${size}`, ' '.repeat(size)],
] as const;
const last = 'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

describe.each(surfaces)('over $name', ({ path }) => {
  it.each(bodies)(
    'a body of 3 MiB %s gets 413, and the next request gets its response',
    async (_how, framing, body) => {
      const { responses } = await sendRaw(server.url, head(path, framing) + body + last);
      expect(responses.map(({ status }) => status)).toEqual([413, 200]);
      expect(responses[0]?.body).toContain('"error":41300,');
    },
  );

  it.each(bodies)(
    'a client that gets 413 while it sends a body %s can close its side without an error',
    async (_how, framing, body) => {
      const { port } = new URL(server.url);
      const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true });
      const errors: Error[] = [];
      socket.on('error', (error) => errors.push(error));
      const half = body.length / 2;
      socket.write(`${head(path, `${framing}\r\nConnection: close`)}${body.slice(0, half)}`);
      // The text ends when the server ends its side of the connection.
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 413 .*"error":41300,/s);
      socket.end(body.slice(half));
      await once(socket, 'close');
      expect(errors).toEqual([]);
    },
  );
});

import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import {
  authorization,
  close,
  contentType,
  lastRequest,
  openSocket,
  rawRequest,
  sendRaw,
} from '../../fixtures/raw-request.ts';
import { shareServer } from '../../fixtures/running-server.ts';
import { surfaces } from '../../fixtures/surfaces.ts';

const size = 3 * 2 ** 20;
const server = shareServer();

const head = (path: string, ...headers: string[]) =>
  rawRequest(`POST ${path}`, [authorization, contentType, ...headers]);
const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
const chunked = 'Transfer-Encoding: chunked';
const bodies = [
  ['of 3 MiB in chunks', chunked, `${chunk.repeat(size / 0x10000)}0\r\n\r\n`],
  ['of 3 MiB with a length', `Content-Length: ${size}`, ' '.repeat(size)],
] as const;
const tooLong = ' '.repeat(2 ** 20 + 1);
const tooLarge = [
  ...bodies,
  ['of 1 MiB and one byte in chunks', chunked, `100001\r\n${tooLong}\r\n0\r\n\r\n`],
  ['of 1 MiB and one byte with a length', `Content-Length: ${tooLong.length}`, tooLong],
] as const;

describe.each(surfaces)('over $name', ({ path }) => {
  it.each(tooLarge)(
    'responds with 413 to a body %s, and then normally to the next request',
    async (_how, framing, body) => {
      const { responses } = await sendRaw(server.url, head(path, framing) + body + lastRequest);
      expect(responses.map(({ status }) => status)).toEqual([413, 200]);
      const message = 'the body is over 1048576 bytes: send a smaller one';
      expect(responses[0]?.body).toContain(`"error":41300,`);
      expect(responses[0]?.body).toContain(`"${message}"`);
    },
  );

  it.each(bodies)(
    'responds with 413 before the end of a body %s, and does not reset the connection',
    async (_how, framing, body) => {
      const socket = openSocket(server.url, { allowHalfOpen: true });
      const errors: Error[] = [];
      socket.on('error', (error) => errors.push(error));
      const half = body.length / 2;
      socket.write(head(path, framing, close) + body.slice(0, half));
      // `text` resolves when the server has ended its side of the connection.
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 413 .*"error":41300,/s);
      socket.end(body.slice(half));
      await once(socket, 'close');
      expect(errors).toEqual([]);
    },
  );
});

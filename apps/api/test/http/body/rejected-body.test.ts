import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendRaw } from '../../fixtures/raw-request.ts';
import { type RunningServer, startServer } from '../../fixtures/running-server.ts';
import { surfaces } from '../../fixtures/surfaces.ts';

const size = 3 * 2 ** 20;
type Write = (bytes: string, done: (error?: Error | null) => void) => boolean;

let server: RunningServer;

beforeAll(async () => {
  server = await startServer('Postgres');
});

afterAll(() => server.stop());

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
  it.each(bodies)('a body of 3 MiB %s gets 413, then the next request its reply', async (_how, framing, body) => {
    const { replies } = await sendRaw(server.url, head(path, framing) + body + last);
    expect(replies.map(({ status }) => status)).toEqual([413, 200]);
    expect(replies[0]?.body).toContain('"error":41300,');
  });

  // Python's http.client is such a client.
  it.each(bodies)('a client reads the 413 after it has sent all of a body %s', async (_how, framing, body) => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    const bytes = `${head(path, `${framing}\r\nConnection: close`)}${body}`;
    await promisify(socket.write.bind(socket) as Write)(bytes);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 413 .*"error":41300,/s);
  });
});

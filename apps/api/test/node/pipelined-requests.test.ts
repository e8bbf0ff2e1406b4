import { once } from 'node:events';
import { createServer } from 'node:http';
import { listen } from '@plant-store/test-setup';
import { expect, it, onTestFinished, vi } from 'vitest';
import { connectionOf, trackConnections } from '../../src/connections/client-connections.ts';
import { holdCreates } from '../fixtures/held-create.ts';
import {
  authorization,
  contentType,
  openSocket,
  rawPost,
  rawRequest,
  sendRaw,
} from '../fixtures/raw-request.ts';
import { shareServer, startServerOn } from '../fixtures/running-server.ts';

const server = shareServer();

const chunkedHead = (...headers: string[]) =>
  rawRequest('POST /plants', ['Transfer-Encoding: chunked', ...headers]);

const createRequest = (id: number, ...headers: string[]) =>
  rawPost(`{"id":${id},"name":"x"}`, '/plants', headers);

/** Starts a server that executes no create before the test calls `release`. */
async function startHeldServer() {
  const held = holdCreates();
  const heldServer = await startServerOn(server.store, { create: held.create });
  onTestFinished(heldServer.stop);
  return { ...heldServer, ...held };
}

/** Opens a connection and collects the status lines of its responses. */
function openConnection({ url }: { url: string }) {
  const socket = openSocket(url);
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  return { socket, statusLines: () => text.match(/HTTP\/1\.1 \d+/g) };
}

it.each([
  ['a malformed body', `${chunkedHead(authorization, contentType)}zz\r\n`, 400],
  ['CONNECT', rawRequest('CONNECT x:1', [authorization, contentType]), 405],
])(
  'responds to the earlier requests of a connection before it rejects %s',
  async (_case, bytes, status) => {
    const { responses } = await sendRaw(server.url, createRequest(91) + createRequest(92) + bytes);
    expect(responses.map((response) => response.status)).toEqual([200, 200, status]);
  },
);

it('sends responses in order when the malformed body of the second request arrives later', async () => {
  const held = await startHeldServer();
  const { socket, statusLines } = openConnection(held);
  socket.write(createRequest(1) + chunkedHead());
  await vi.waitFor(() => expect(held.create).toHaveBeenCalled());
  // When the server responds to /livez, the server has read both requests of the socket.
  await fetch(`${held.url}/livez`);
  socket.write('zz\r\n');
  await fetch(`${held.url}/livez`);
  held.release();
  await once(socket, 'close');
  expect(statusLines()).toEqual(['HTTP/1.1 200', 'HTTP/1.1 401']);
});

it('sends no second response when a malformed body arrives after the response', async () => {
  const { responses } = await sendRaw(server.url, chunkedHead(), { afterResponse: 'zz\r\n' });
  expect(responses).toMatchObject([{ status: 401 }]);
});

it('sends one error for malformed bytes that follow a create, even when the bytes arrive in several packets', async () => {
  const onWarning = vi.fn();
  process.on('warning', onWarning);
  const held = await startHeldServer();
  const { socket, statusLines } = openConnection(held);
  socket.write(createRequest(1));
  await vi.waitFor(() => expect(held.create).toHaveBeenCalled());
  for (let i = 0; i < 20; i++) {
    socket.write('garbage');
    await fetch(`${held.url}/livez`);
  }
  held.release();
  await once(socket, 'close');
  expect(statusLines()).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
  process.off('warning', onWarning);
  expect(onWarning).not.toHaveBeenCalled();
});

it('closes the connection after CONNECT, even if the client never closes the connection', async () => {
  const other = await startServerOn(server.store);
  const socket = openSocket(other.url, { allowHalfOpen: true });
  socket.write(rawRequest('CONNECT example.com:443'));
  await once(socket.resume(), 'end');
  await vi.waitFor(async () => expect(await other.connections()).toBe(0));
  socket.destroy();
  await other.stop();
});

it('still responds after a client has sent a create and CONNECT, and has disconnected', async () => {
  const held = await startHeldServer();
  const { socket } = openConnection(held);
  socket.write(createRequest(1) + rawRequest('CONNECT example.com:443'));
  await vi.waitFor(() => expect(held.create).toHaveBeenCalled());
  socket.resetAndDestroy();
  held.release();
  await vi.waitFor(async () => expect(await held.connections()).toBe(0));
  expect((await fetch(`${held.url}/livez`)).status).toBe(200);
});

it('keeps only the latest response of an idle connection in memory', async () => {
  const plain = createServer((_request, response) => void setImmediate(() => response.end('x')));
  trackConnections(plain);
  const accepted = once(plain, 'connection');
  const { socket, statusLines } = openConnection({ url: await listen(plain) });
  onTestFinished(() => {
    socket.destroy();
    plain.close();
  });
  socket.write(rawRequest('GET /').repeat(50));
  await vi.waitFor(() => expect(statusLines()).toHaveLength(50));
  const [serverSocket] = await accepted;
  await vi.waitFor(() => expect(connectionOf(serverSocket)?.responses).toHaveLength(1));
});

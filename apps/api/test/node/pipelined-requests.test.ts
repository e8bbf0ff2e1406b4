import { once } from 'node:events';
import { connect } from 'node:net';
import type { PlantStore } from '@plant-store/core';
import { expect, it, onTestFinished, vi } from 'vitest';
import { sendRaw } from '../fixtures/raw-request.ts';
import { shareServer, startServerOn } from '../fixtures/running-server.ts';

const server = shareServer();

const tokenAndType = 'Authorization: Bearer test-token\r\nContent-Type: application/json\r\n';
const chunkedHead = 'POST /plants HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n';

/** The bytes of a whole request that creates a plant. */
function createRequest(id: number, headers = ''): string {
  const json = `{"id":${id},"name":"x"}`;
  return (
    `POST /plants HTTP/1.1\r\nHost: x\r\n${headers}${tokenAndType}` +
    `Content-Length: ${json.length}\r\n\r\n${json}`
  );
}

/** Starts a server whose creates wait until `release` is called. */
async function startHeldServer() {
  const held = Promise.withResolvers<void>();
  const create = vi.fn<PlantStore['create']>(async ({ name }) => {
    await held.promise;
    return { name };
  });
  const heldServer = await startServerOn(server.store, { create });
  onTestFinished(heldServer.stop);
  return { ...heldServer, create, release: held.resolve };
}

/** Opens a connection and collects the status lines of its responses. */
function openConnection({ url }: { url: string }) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  return { socket, statusLines: () => text.match(/HTTP\/1\.1 \d+/g) };
}

it.each(['close', 'keep-alive'])(
  'responds to a request before it rejects the malformed bytes after it (Connection: %s)',
  async (connection) => {
    const request = createRequest(1, `Connection: ${connection}\r\n`);
    expect(await sendRaw(server.url, `${request}no HTTP`)).toMatchObject({ status: 200 });
  },
);

it.each([
  ['a malformed body', `${chunkedHead}${tokenAndType}\r\nzz\r\n`, 400],
  ['CONNECT', `CONNECT x:1 HTTP/1.1\r\nHost: x\r\n${tokenAndType}\r\n`, 405],
])('responds to earlier requests before it rejects %s', async (_case, bytes, status) => {
  const { responses } = await sendRaw(server.url, createRequest(91) + createRequest(92) + bytes);
  expect(responses.map((response) => response.status)).toEqual([200, 200, status]);
});

it('sends responses in order when the body of a later request, which already has a response, is malformed', async () => {
  const held = await startHeldServer();
  const { socket, statusLines } = openConnection(held);
  socket.write(`${createRequest(1)}${chunkedHead}\r\n`);
  await vi.waitFor(() => expect(held.create).toHaveBeenCalled());
  await fetch(`${held.url}/livez`); // The server has read both requests by now.
  socket.write('zz\r\n');
  await fetch(`${held.url}/livez`);
  held.release();
  await once(socket, 'close');
  expect(statusLines()).toEqual(['HTTP/1.1 200', 'HTTP/1.1 401']);
});

it('sends responses in order when a request and its malformed body arrive together', async () => {
  const held = await startHeldServer();
  const { socket, statusLines } = openConnection(held);
  socket.write(`${createRequest(1)}${chunkedHead}\r\nzz\r\n`);
  await fetch(`${held.url}/livez`);
  held.release();
  await once(socket, 'close');
  expect(statusLines()).toEqual(['HTTP/1.1 200', 'HTTP/1.1 401']);
});

it('sends no second response when a body is malformed after the response', async () => {
  const { responses } = await sendRaw(server.url, `${chunkedHead}\r\n`, {
    afterResponse: 'zz\r\n',
  });
  expect(responses).toMatchObject([{ status: 401 }]);
});

it('rejects malformed bytes after a create only once, even when they come in several packets', async () => {
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

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { hasPosixSignals } from '@plant-store/test-setup';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { emptyDataDirectory, type Served, serve, token } from '../fixtures/program.ts';
import { requestText } from '../fixtures/raw-request.ts';

/** An instance is frozen for this many milliseconds. The server notices a pause of a second. */
const freeze = 1_500;

async function open({ url }: Served): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** Opens a connection and sends its first request. */
async function openUsed(instance: Served): Promise<Socket> {
  const socket = await open(instance);
  socket.write(request('GET /livez'));
  await once(socket, 'data');
  return socket;
}

/** Sends a request, and returns the status of its response. */
async function call(instance: Served, bytes: string): Promise<number> {
  const socket = await open(instance);
  socket.write(bytes);
  return statusOf(socket);
}

async function statusOf(socket: Socket): Promise<number> {
  const [response] = await once(socket, 'data');
  return Number(String(response).slice(9, 12));
}

const request = (line: string, body?: string) => requestText(line, token, body);

const create = (id: number, name = 'x') => request('POST /plants', `{"id":${id},"name":"${name}"}`);
const createLarge = (id: number) => create(id, 'x'.repeat(100_000));
const createOverTrpc = (id: number) =>
  request('POST /trpc/createPlant', `{"json":{"id":${id},"name":"x"}}`);
const createPartly = (id: number) => create(id).slice(0, -1);
const remove = (id: number) => request(`DELETE /plants/${id}`);

/** Returns consecutive ids. */
const ids = (first: number, length = 10) => Array.from({ length }, (_, i) => first + i);

describe.runIf(hasPosixSignals)('an instance that was frozen', () => {
  it.each([
    ['Postgres', async () => ({})],
    ['the embedded database', async () => ({ PLANT_STORE_DATA_DIR: await emptyDataDirectory() })],
  ])(
    'on %s, executes only the requests of clients that have not disconnected',
    async (_, onDatabase) => {
      const instance = await serve(await onDatabase());
      const stored = ids(1, 20);
      for (const id of stored) expect(await call(instance, create(id))).toBe(200);
      const used = await Promise.all(stored.map(() => openUsed(instance)));

      instance.child.kill('SIGSTOP');
      const send = async (bytes: string, socket?: Socket) => {
        const connection = socket ?? (await open(instance));
        connection.write(bytes);
        return connection;
      };
      const late = [
        ...[ids(1).map(remove), ids(100).map((id) => create(id))],
        ...[ids(1).map(remove), ids(200).map((id) => create(id)), ids(300).map(createLarge)],
        ...[ids(400).map(createOverTrpc), ids(500).map(createPartly)],
      ].flat();
      const gone = await Promise.all(late.map((bytes, i) => send(bytes, used[i])));
      const inTime = [ids(11).map(remove), ids(600).map((id) => create(id))].flat();
      const waiting = await Promise.all(inTime.map((bytes) => send(bytes)));
      const statuses = Promise.all(waiting.map(statusOf));
      await setTimeout(freeze);
      for (const [i, socket] of gone.entries()) i % 2 ? socket.end() : socket.destroy();
      instance.child.kill('SIGCONT');

      expect(await statuses).toEqual([...ids(11).map(() => 204), ...ids(600).map(() => 200)]);
      const lost = () => instance.output().match(/"path":"\/(plants|trpc)[^"]*","status":4/g);
      await vi.waitFor(() => expect(lost()).toHaveLength(gone.length));
      const found = await Promise.all(
        ids(1, 699).map((id) => call(instance, request(`GET /plants/${id}`))),
      );
      expect(ids(1, 699).filter((_, i) => found[i] === 200)).toEqual([...ids(1), ...ids(600)]);
    },
  );
});

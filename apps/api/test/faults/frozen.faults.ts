import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request as sendOverTls } from 'node:https';
import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { hasPosixSignals } from '@plant-store/test-setup';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { emptyDataDirectory, printedUrl, startProgram } from '../fixtures/program.ts';
import { hasNginx, startNginx } from '../operations/start-nginx.ts';
import { startPlantsDatabase } from './plants-database.ts';

const token = 'secret-of-the-tests';

/** Milliseconds for which an instance is frozen. A second counts as a gap of its event loop. */
const freeze = 1_500;

async function start(env: Record<string, string>) {
  const program = startProgram({ ...env, PLANT_STORE_TOKEN: token });
  return { ...program, url: await printedUrl(program) };
}

type Instance = Awaited<ReturnType<typeof start>>;

async function onPostgres() {
  const { url, stop } = await startPlantsDatabase();
  onTestFinished(stop);
  return { DATABASE_URL: url };
}

const onEmbedded = async () => ({ PLANT_STORE_DATA_DIR: await emptyDataDirectory() });

async function open({ url }: Instance): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** Opens a connection, and sends a first request on it. */
async function openUsed(instance: Instance): Promise<Socket> {
  const socket = await open(instance);
  socket.write(request('GET', '/livez'));
  await once(socket, 'data');
  return socket;
}

/** Sends a request, and returns the status of its response. */
async function call(instance: Instance, bytes: string): Promise<number> {
  const socket = await open(instance);
  socket.write(bytes);
  return statusOf(socket);
}

async function statusOf(socket: Socket): Promise<number> {
  const [response] = await once(socket, 'data');
  return Number(String(response).slice(9, 12));
}

function request(method: string, path: string, body = ''): string {
  return (
    `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  );
}

const create = (id: number, name = 'x') =>
  request('POST', '/plants', `{"id":${id},"name":"${name}"}`);
const createLarge = (id: number) => create(id, 'x'.repeat(100_000));
const createOverTrpc = (id: number) =>
  request('POST', '/trpc/createPlant', `{"json":{"id":${id},"name":"x"}}`);
const createPartly = (id: number) => create(id).slice(0, -1);
const remove = (id: number) => request('DELETE', `/plants/${id}`);

/** Returns consecutive ids. */
const ids = (first: number, length = 10) => Array.from({ length }, (_, i) => first + i);

describe.runIf(hasPosixSignals)('an instance that was frozen', () => {
  it.each([
    ['Postgres', onPostgres],
    ['the embedded database', onEmbedded],
  ])('executes only the requests of clients that still wait, on %s', async (_, onDatabase) => {
    const instance = await start(await onDatabase());
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
      ids(1, 699).map((id) => call(instance, request('GET', `/plants/${id}`))),
    );
    expect(ids(1, 699).filter((_, i) => found[i] === 200)).toEqual([...ids(1), ...ids(600)]);
  });

  it.runIf(hasNginx)(
    'behind docs/nginx.conf, deletes no plant that was created again',
    async () => {
      const env = await onPostgres();
      const [frozen, other] = await Promise.all([start(env), start(env)]);
      const { port, ca, stop } = await startNginx([frozen.url, other.url], '1s');
      onTestFinished(stop);
      for (const id of ids(1, 20)) expect(await call(other, create(id))).toBe(200);

      frozen.child.kill('SIGSTOP');
      const headers = { authorization: `Bearer ${token}` };
      const removeOverNginx = async (id: number) => {
        const address = { host: '127.0.0.1', port, ca, servername: 'localhost' };
        const sent = sendOverTls({ ...address, path: `/plants/${id}`, method: 'DELETE', headers });
        const [response]: IncomingMessage[] = await once(sent.end(), 'response');
        return response?.statusCode;
      };
      const statuses = await Promise.all(ids(1, 20).map(removeOverNginx));
      // nginx has asked which instance is ready, so the frozen one gets no delete.
      expect(new Set(statuses)).toEqual(new Set([204]));
      for (const id of ids(1, 20)) expect(await call(other, create(id))).toBe(200);
      frozen.child.kill('SIGCONT');
      expect(await call(frozen, create(21))).toBe(200);
      for (const id of ids(1, 20)) {
        expect(await call(other, request('GET', `/plants/${id}`))).toBe(200);
      }
    },
  );
});

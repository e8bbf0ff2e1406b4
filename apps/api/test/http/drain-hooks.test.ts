import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import timers from 'node:timers/promises';
import fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { trackConnections, trackResponse } from '../../src/connections/client-connections.ts';
import { drain } from '../../src/connections/drain.ts';
import { openSocket, sendRaw } from '../fixtures/raw-request.ts';

// This server has only the hooks of `drain`, so that `npx -y pnpm mutants` can try all mutants of `drain`.
let server: FastifyInstance;
let url: string;
let otherProcesses: PromiseWithResolvers<void>;
let held: PromiseWithResolvers<void>;
let waiting: number;
let stream: PassThrough;
const stopWaiting = vi.fn<() => void>();
/** A hook that runs after the hooks of `drain`. */
const afterwards = vi.fn<() => Promise<void>>(async () => {});
/** The closing server calls this function before the server stops listening. */
let duringDrain: () => Promise<void>;
let agent: Agent;

beforeEach(async () => {
  otherProcesses = Promise.withResolvers();
  held = Promise.withResolvers();
  waiting = 0;
  stream = new PassThrough();
  duringDrain = async () => {};
  stopWaiting.mockClear();
  afterwards.mockClear();
  agent = new Agent({ keepAlive: true });
  server = fastify({ return503OnClosing: false });
  trackConnections(server.server);
  server.addHook('onRequest', trackResponse);
  const hooks = drain(server, () => otherProcesses.promise, stopWaiting);
  server.addHook('onSend', hooks.announceClose);
  server.addHook('onResponse', hooks.closeAfterResponse);
  server.addHook('onResponse', afterwards);
  server.addHook('preClose', () => duringDrain());
  server.addHook('preClose', hooks.waitForDrain);
  server.get('/', async () => 'done');
  server.get('/closing', async (_request, reply) => reply.header('connection', 'close').send('x'));
  server.get('/held', async () => {
    waiting++;
    await held.promise;
    return 'done';
  });
  server.get('/stream', async () => stream);
  url = await server.listen({ port: 0, host: '127.0.0.1' });
});

afterEach(async () => {
  otherProcesses.resolve();
  held.resolve();
  stream.end();
  await server.close();
  agent.destroy();
});

async function request(path: string): Promise<IncomingMessage> {
  const [response] = await once(get(url + path, { agent }), 'response');
  return response as IncomingMessage; // The argument of the event `response` is an IncomingMessage.
}

it('keeps a connection open before the drain, unless a handler closes the connection', async () => {
  expect([server.drainDelay, server.isClosing]).toEqual([0, false]);
  const kept = await request('/');
  expect(kept.headers.connection).toBe('keep-alive');
  expect(await text(kept)).toBe('done');
  const closed = await request('/closing');
  expect(closed.headers.connection).toBe('close');
  closed.resume();
  await vi.waitFor(() => expect(afterwards).toHaveBeenCalledTimes(2));
});

it('accepts requests during the drain delay, and then calls stopWaiting exactly once', async () => {
  otherProcesses.resolve();
  const delay = Promise.withResolvers<void>();
  const wait = vi.spyOn(timers, 'setTimeout').mockImplementationOnce(() => delay.promise);
  syncBuiltinESMExports();
  onTestFinished(() => {
    wait.mockRestore();
    syncBuiltinESMExports();
  });
  server.drainDelay = 300;
  const closed = server.close();
  await vi.waitFor(() => expect(server.isClosing).toBe(true));
  const response = await request('/');
  expect(response.headers.connection).toBe('close');
  expect(stopWaiting).not.toHaveBeenCalled();
  expect(wait.mock.calls).toEqual([[300]]);
  response.resume();
  delay.resolve();
  await closed;
  expect(stopWaiting).toHaveBeenCalledTimes(1);
});

it('sends the header Connection: close only in the last response of a connection', async () => {
  otherProcesses.resolve();
  duringDrain = async () => {
    server.isClosing = true;
    const line = 'GET /held HTTP/1.1\r\nHost: x\r\n\r\n';
    const sent = sendRaw(url, line.repeat(3));
    await vi.waitFor(() => expect(waiting).toBe(3));
    held.resolve();
    const { responses } = await sent;
    const connections = responses.map(({ headers }) => headers.get('connection'));
    expect(connections).toEqual([null, null, 'close']);
  };
  await server.close();
  expect.hasAssertions();
});

it.each(['have stopped listening', 'are gone'])(
  'sends a response only after the other processes %s',
  async (outcome) => {
    const response = request('/held');
    const seen = vi.fn();
    void response.then(seen);
    await vi.waitFor(() => expect(waiting).toBe(1));
    const closed = server.close();
    await vi.waitFor(() => expect(server.server.listening).toBe(false));
    held.resolve();
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    expect(seen).not.toHaveBeenCalled();
    if (outcome === 'have stopped listening') otherProcesses.resolve();
    else otherProcesses.reject(new Error('gone'));
    expect((await response).headers.connection).toBe('close');
    expect(await text(await response)).toBe('done');
    await closed;
  },
);

it('closes a connection after a response when the headers were sent before the drain began', async () => {
  otherProcesses.resolve();
  stream.write('a');
  const response = await request('/stream');
  expect(response.headers.connection).toBe('keep-alive');
  const closed = server.close();
  await vi.waitFor(() => expect(server.server.listening).toBe(false));
  stream.end('b');
  expect(await text(response)).toBe('ab');
  await closed;
});

it('closes unused connections and idle connections, even when the client never closes', async () => {
  otherProcesses.resolve();
  const unused = openSocket(url, { allowHalfOpen: true });
  await once(unused, 'connect');
  const response = await request('/');
  const { socket: idle } = response;
  await text(response);
  const closed = [once(unused.resume(), 'end'), once(idle, 'close')];
  await server.close();
  await Promise.all(closed);
  unused.destroy();
});

it('stops listening after a limited time, even when clients keep connecting', async () => {
  otherProcesses.resolve();
  // This timer adds a connection every 5 ms, so that no quiet time of 50 ms passes without a new connection.
  const connecting = setInterval(() => {
    const socket = new Socket();
    server.server.emit('connection', socket);
    socket.destroy();
  }, 5);
  const started = performance.now();
  await server.close();
  clearInterval(connecting);
  expect(performance.now() - started).toBeGreaterThan(500);
});

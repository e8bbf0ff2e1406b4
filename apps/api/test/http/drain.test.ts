import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { openPlantStore, type PlantStore } from '@plant-store/core';
import { createDatabase } from '@plant-store/test-setup';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, inject, it, onTestFinished, vi } from 'vitest';
import { buildServer } from '../../src/server.ts';
import { openSocket, rawPost } from '../fixtures/raw-request.ts';
import { acceptTestToken } from '../fixtures/running-server.ts';
import { post } from '../fixtures/surfaces.ts';

let store: PlantStore;
let server: FastifyInstance;
let url: string;
/** The closing server calls this function before the server stops listening. */
let duringDrain: () => Promise<void>;
const log: string[] = [];

beforeEach(async () => {
  store = await openPlantStore({ databaseUrl: await createDatabase(inject('postgresUrl')) });
  const logStream = { write: (line: string) => log.push(line) };
  server = await buildServer({ store, authenticate: acceptTestToken(store), logStream });
  duringDrain = async () => {};
  server.addHook('preClose', () => duringDrain());
  url = await server.listen({ host: '127.0.0.1', port: 0 });
});

afterEach(() => store.close());

const target = () => ({ url, token: 'test-token' });

const create = (id: number) => rawPost(`{"id":${id},"name":"x"}`);

it('during the drain, responds to a create, is not ready, and closes each connection after the response', async () => {
  duringDrain = async () => {
    const ready = await fetch(`${url}/readyz`);
    expect(ready.status).toBe(503);
    expect(await ready.json()).toMatchObject({ error: 50302 });
    const created = await post(target(), '/plants', '{"id":1,"name":"x"}');
    expect(created.status).toBe(200);
    for (const { headers } of [ready, created]) expect(headers.get('connection')).toBe('close');
  };
  await server.close();
  expect.assertions(5);
});

/** Requests a batch of ten pages of about 1 MiB. Random names make the compressed pages large too. */
async function sendLists() {
  for (let id = 0n; id < 8n; id++) {
    await store.create({ id, name: randomBytes(90_000).toString('base64') });
  }
  const { port } = new URL(url);
  const path = `/trpc/${Array(10).fill('listPlants').join()}?batch=1&input={}`;
  const headers = { authorization: 'Bearer test-token', 'accept-encoding': 'gzip' };
  return request({ port, host: '127.0.0.1', path, headers }).end();
}

it('sends a large compressed response completely, even when the server begins to close before the end', async () => {
  const [response]: IncomingMessage[] = await once(await sendLists(), 'response');
  if (!response) throw new Error('there is no response');
  response.pause(); // The response is larger than the buffers of the operating system.
  const closed = server.close();
  await vi.waitFor(() => expect(server.server.listening).toBe(false));
  const body = await buffer(response);
  expect(response.headers).toMatchObject({
    'content-encoding': 'gzip',
    'content-length': String(body.length),
  });
  expect(
    gunzipSync(body)
      .toString()
      .match(/"createdAt":"/g),
  ).toHaveLength(10 * 8);
  await closed;
});

it('responds to every request of 40 clients until the clients cannot connect', async () => {
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  let lastId = 0;
  const createNext = async (): Promise<string> => {
    const { port } = new URL(url);
    const headers = { authorization: 'Bearer test-token', 'content-type': 'application/json' };
    const options = { agent, port, host: '127.0.0.1', path: '/plants', method: 'POST', headers };
    const sent = request(options);
    sent.end(`{"id":${++lastId},"name":"x"}`);
    try {
      const [response]: IncomingMessage[] = await once(sent, 'response');
      response?.resume();
      return String(response?.statusCode);
    } catch (error) {
      return String(error);
    }
  };
  const outcomes: string[] = [];
  const clients = Array.from({ length: 40 }, async () => {
    let outcome: string;
    do {
      outcome = await createNext();
      outcomes.push(outcome);
    } while (outcome === '200');
  });
  await vi.waitFor(() => expect(outcomes.length).toBeGreaterThan(400));
  await server.close();
  await Promise.all(clients);
  const others = outcomes.filter((outcome) => outcome !== '200');
  expect(others).toEqual(Array(40).fill(expect.stringContaining('ECONNREFUSED')));
});

/** Writes to a socket. Throws when the server has reset the connection. */
const write = (socket: Socket, bytes: string) =>
  promisify((done: (error?: Error | null) => void) => socket.write(bytes, done))();

it('does not reset a connection on which a further request arrives', async () => {
  const idle = openSocket(url, { allowHalfOpen: true });
  idle.write(create(1));
  await once(idle, 'data');
  const closed = server.close();
  idle.resume();
  await once(idle, 'end');
  for (const id of [2, 3]) await write(idle, create(id));
  idle.end();
  await closed;
  expect(await store.get(2n)).toBeUndefined();
});

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { openPlantStore, type PlantStore } from '@plant-store/core';
import { createDatabase } from '@plant-store/test-setup';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, inject, it, onTestFinished, vi } from 'vitest';
import { buildServer } from '../../src/server.ts';
import { sendRaw } from '../fixtures/raw-request.ts';
import { acceptTestToken } from '../fixtures/running-server.ts';
import { post } from '../fixtures/surfaces.ts';

let store: PlantStore;
let server: FastifyInstance;
let url: string;
/** Runs while the server closes and still accepts requests. */
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

const create = (id: number) => {
  const json = `{"id":${id},"name":"x"}`;
  return (
    'POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer test-token\r\n' +
    `Content-Type: application/json\r\nContent-Length: ${json.length}\r\n\r\n${json}`
  );
};

it('is not ready, but responds to requests, and closes their connections', async () => {
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

it('responds to all requests of a connection, and announces the close in the last response', async () => {
  duringDrain = async () => {
    const { responses } = await sendRaw(url, create(1) + create(2) + create(3));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    const connections = responses.map(({ headers }) => headers.get('connection'));
    expect(connections).toEqual([null, null, 'close']);
  };
  await server.close();
  expect.assertions(2);
});

it('responds to the requests in progress, and announces the close in their responses', async () => {
  const held = Promise.withResolvers<void>();
  const { create: createInStore } = store;
  Object.assign(store, {
    create: vi.fn<PlantStore['create']>(async (plant) => {
      await held.promise;
      return createInStore(plant);
    }),
  });
  const response = post(target(), '/plants', '{"id":1,"name":"x"}');
  await vi.waitFor(() => expect(store.create).toHaveBeenCalled());
  const closed = server.close();
  await vi.waitFor(() => expect(server.server.listening).toBe(false));
  held.resolve();
  expect((await response).status).toBe(200);
  expect((await response).headers.get('connection')).toBe('close');
  await closed;
});

/** Requests a batch of ten pages. Each has about 1 MiB, and compression hardly shortens it. */
async function sendLists() {
  for (let id = 0n; id < 8n; id++) {
    await store.create({ id, name: randomBytes(90_000).toString('base64') });
  }
  const { port } = new URL(url);
  const path = `/trpc/${Array(10).fill('listPlants').join()}?batch=1&input={}`;
  const headers = { authorization: 'Bearer test-token', 'accept-encoding': 'gzip' };
  return request({ port, host: '127.0.0.1', path, headers }).end();
}

/** The number of plants in each page of a batch. */
const sizesOf = (json: string) =>
  JSON.parse(json).map(({ result }: Envelope) => result.data.json.plants.length);

interface Envelope {
  result: { data: { json: { plants: unknown[] } } };
}

it('sends the whole of a large compressed response when the server closes meanwhile', async () => {
  const [response]: IncomingMessage[] = await once(await sendLists(), 'response');
  if (!response) throw new Error('there is no response');
  response.pause(); // The buffers of the system cannot hold the rest.
  const closed = server.close();
  await vi.waitFor(() => expect(server.server.listening).toBe(false));
  const body = await buffer(response);
  expect(response.headers).toMatchObject({
    'content-encoding': 'gzip',
    'content-length': String(body.length),
  });
  expect(sizesOf(gunzipSync(body).toString())).toEqual(Array(10).fill(8));
  await closed;
});

it('sends the whole of a large response without compression while the server drains', async () => {
  duringDrain = async () => {
    const [response]: IncomingMessage[] = await once(await sendLists(), 'response');
    expect(response?.headers['content-encoding']).toBeUndefined();
    expect(response?.headers.connection).toBe('close');
    expect(sizesOf(String(response && (await buffer(response))))).toEqual(Array(10).fill(8));
  };
  await server.close();
  expect.assertions(3);
});

it('responds to all clients that send one request after another, until they cannot connect', async () => {
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  let lastId = 0;
  const createNext = async (): Promise<string> => {
    const { port } = new URL(url);
    const headers = { authorization: 'Bearer test-token', 'content-type': 'application/json' };
    const sent = request({
      agent,
      port,
      host: '127.0.0.1',
      path: '/plants',
      method: 'POST',
      headers,
    });
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

/** Throws when the connection was reset. */
const write = (socket: Socket, bytes: string) =>
  promisify((done: (error?: Error | null) => void) => socket.write(bytes, done))();

it('does not reset a connection when a request is on its way', async () => {
  const { port } = new URL(url);
  const idle = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true });
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

it('does not wait for clients that never close their side of a connection', async () => {
  const { port } = new URL(url);
  const open = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true });
  onTestFinished(() => void open.destroy());
  await once(open, 'connect');
  await server.close();
});

it('does not wait for unused and idle connections', async () => {
  const { port } = new URL(url);
  const unused = connect(Number(port), '127.0.0.1');
  const idle = connect(Number(port), '127.0.0.1');
  await once(unused, 'connect');
  idle.write(create(1));
  await once(idle, 'data');
  await Promise.all([once(unused, 'close'), once(idle, 'close'), server.close()]);
});

import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RunningServer, startServer } from '../fixtures/running-server.ts';
import { post } from '../fixtures/surfaces.ts';

let server: RunningServer;

beforeAll(async () => {
  server = await startServer('Postgres');
});

afterAll(() => server.stop());

/** Sends requests with unknown tokens over 20 connections until it is stopped. */
function startFlood() {
  const statuses = new Map<string, number>();
  let guesses = 0;
  let isStopped = false;
  const flood = Array.from({ length: 20 }, async () => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    await once(socket, 'connect');
    let pending = 0;
    socket.setEncoding('latin1');
    while (!isStopped || pending > 0) {
      while (!isStopped && pending < 10) {
        pending++;
        socket.write(
          `POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer guess-${++guesses}\r\n` +
            'Content-Type: application/json\r\nContent-Length: 0\r\n\r\n',
        );
      }
      const [text] = await once(socket, 'data');
      for (const [status] of String(text).matchAll(/HTTP\/1\.1 \d+/g)) {
        pending--;
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    }
    socket.destroy();
  });
  return {
    statuses,
    async stop() {
      isStopped = true;
      await Promise.all(flood);
    },
  };
}

it('statuses valid tokens during a flood of unknown ones', async () => {
  const known = await server.store.accessTokens.create('known');
  const create = async (id: number, token: string) =>
    (await post({ ...server, token }, '/plants', JSON.stringify({ id, name: 'x' }))).status;
  expect(await create(0, known)).toBe(200);

  const flood = startFlood();
  const statuses = [];
  for (let id = 1; id <= 60; id++) {
    // A new token must be looked up in the database, as the unknown ones are.
    const isNew = id % 20 === 0;
    statuses.push(await create(id, isNew ? await server.store.accessTokens.create('new') : known));
  }
  await flood.stop();
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect([...flood.statuses.keys()]).toEqual(['HTTP/1.1 401']);
  expect(flood.statuses.get('HTTP/1.1 401')).toBeGreaterThan(statuses.length);
});

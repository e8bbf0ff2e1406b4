import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { startRequestFlood } from '../faults/request-flood.ts';
import { requestText } from '../fixtures/raw-request.ts';
import { startServer } from '../fixtures/running-server.ts';

/** The number of connections that send creates all the time, and the number of new connections. */
const creators = 500;
const newcomers = 100;

// The clients are in the server's own process, so each turn of its event loop has their requests.
it('accepts new connections while creates keep the server busy', async () => {
  const server = await startServer('Postgres', { create: async (plant) => plant });
  const { token, url } = server;
  const create = requestText('POST /plants', token, '{"id":1,"name":"a plant"}');
  const creates = await startRequestFlood(url, creators, () => ({ text: create }));
  await expect.poll(() => creates.times.length, { timeout: 60_000 }).toBeGreaterThan(creators);

  const before = creates.times.length;
  await Promise.all(
    Array.from({ length: newcomers }, async () => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      socket.write('GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      const [response] = await once(socket, 'data');
      expect(String(response)).toMatch(/^HTTP\/1\.1 200 /);
    }),
  );
  const meanwhile = creates.times.length - before;
  await creates.stop();
  await server.stop();
  // Node accepts one connection in a turn. If all creates went first, each turn would have hundreds of
  // creates.
  expect(meanwhile).toBeLessThan(50 * newcomers);
  expect(Object.keys(creates.outcomes)).toEqual(['200']);
});

import { once } from 'node:events';
import { expect, it, onTestFinished, vi } from 'vitest';
import { startRequestFlood } from '../faults/request-flood.ts';
import { lastRequest, openSocket, requestText } from '../fixtures/raw-request.ts';
import { startServer } from '../fixtures/running-server.ts';

/** The number of connections that send creates all the time. */
const creators = 500;

/** The number of connections that are opened during the creates. */
const newcomers = 100;

// The clients run in the process of the server, so every turn of the event loop has requests.
it('accepts connections while creates keep the server busy', async () => {
  vi.useFakeTimers({ toFake: ['performance'] }); // No request waits too long, even on a busy machine.
  onTestFinished(() => void vi.useRealTimers());
  const server = await startServer({ create: async (plant) => plant });
  const { token, url } = server;
  const create = requestText('POST /plants', token, '{"id":1,"name":"a plant"}');
  const creates = await startRequestFlood(url, creators, () => ({ text: create }));
  await expect.poll(() => creates.times.length, { timeout: 60_000 }).toBeGreaterThan(creators);

  const before = creates.times.length;
  await Promise.all(
    Array.from({ length: newcomers }, async () => {
      const socket = openSocket(url);
      socket.write(lastRequest);
      const [response] = await once(socket, 'data');
      expect(String(response)).toMatch(/^HTTP\/1\.1 200 /);
    }),
  );
  const meanwhile = creates.times.length - before;
  await creates.stop();
  await server.stop();
  // Node accepts one connection in a turn. Without our limit, a turn would have hundreds of creates.
  expect(meanwhile).toBeLessThan(50 * newcomers);
  expect(Object.keys(creates.outcomes)).toEqual(['200']);
});

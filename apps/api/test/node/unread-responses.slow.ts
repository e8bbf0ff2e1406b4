import { readFile } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { authorization, openSocket, rawRequest } from '../fixtures/raw-request.ts';
import { startServer } from '../fixtures/running-server.ts';

const page = await readFile(new URL('../../../../docs/maintain.md', import.meta.url), 'utf8');
const seconds = Number(/reads nothing for (\d+) s/.exec(page)?.[1]);

it('closes a connection in the time that docs/maintain.md names when the client reads nothing', async () => {
  const server = await startServer('Postgres', { requestTimeout: 30_000 });
  onTestFinished(() => server.stop());
  const { next } = await server.store.changes({});
  for (let id = 1n; id <= 20n; id++) {
    await server.store.create({ id, name: 'x'.repeat(500_000) });
  }
  const paths = [
    '/plants/1',
    ...Array.from({ length: 30 }, () => '/plants?limit=1000'),
    `/trpc/plantChanges?lastEventId=${next}`,
    `/plants/changes?after=${next}`,
  ];
  // The lists use one connection, and fill the buffers of the connection.
  const connections = [paths.slice(0, 1), paths.slice(1, -2), paths.slice(-2, -1), paths.slice(-1)];
  const headers = [authorization, 'Accept: text/event-stream'];
  for (const some of connections) {
    const socket = openSocket(server.url).pause();
    onTestFinished(() => void socket.destroy());
    socket.write(some.map((path) => rawRequest(`GET ${path}`, headers)).join(''));
  }
  await expect.poll(() => server.connections()).toBe(4);
  await expect.poll(() => server.connections(), { timeout: (seconds + 30) * 1_000 }).toBe(0);
});

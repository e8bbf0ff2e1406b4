import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { startServer } from '../fixtures/running-server.ts';

const page = await readFile(new URL('../../../../docs/maintain.md', import.meta.url), 'utf8');
const seconds = Number(/reads nothing for (\d+) s/.exec(page)?.[1]);

it('within the documented time, closes connections whose clients read nothing', async () => {
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
  ];
  const headers = `Host: x\r\nAuthorization: Bearer ${server.token}\r\n\r\n`;
  // The lists share a connection, and fill its buffers.
  for (const some of [paths.slice(0, 1), paths.slice(1, -1), paths.slice(-1)]) {
    const socket = connect(Number(new URL(server.url).port)).pause();
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => {}); // The server resets the connection.
    socket.write(some.map((path) => `GET ${path} HTTP/1.1\r\n${headers}`).join(''));
  }
  await expect.poll(() => server.connections()).toBe(3);
  await expect.poll(() => server.connections(), { timeout: (seconds + 30) * 1_000 }).toBe(0);
});

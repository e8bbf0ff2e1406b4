import { connect } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { callers } from '../../fixtures/callers.ts';
import { startServer } from '../../fixtures/running-server.ts';

it('rejects only further lists while slow clients leave their pages unread', async () => {
  const memoryBudget = 4 * 2 ** 20;
  const server = await startServer('Postgres', { memoryBudget });
  onTestFinished(server.stop);
  const name = 'x'.repeat(2 ** 20 - 100);
  for (const id of [1n, 2n]) await server.store.create({ id, name });

  const request = `GET /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\n\r\n`;
  const slow = Array.from({ length: 4 }, () => connect(Number(new URL(server.url).port)));
  onTestFinished(() => slow.forEach((socket) => void socket.destroy()));
  for (const socket of slow) socket.on('error', () => {}).pause();
  // The system itself holds some MiB of each connection, and pages beyond the budget are rejected.
  const requests = setInterval(() => slow.forEach((socket) => void socket.write(request)), 20);
  onTestFinished(() => clearInterval(requests));

  for (const { call } of callers) {
    const list = () => call(server, 'listPlants', { limit: 1 });
    const isRejected = async () => expect(await list()).toMatchObject({ error: 50301 });
    await vi.waitFor(isRejected);
    expect(await call(server, 'createPlant', { id: 3, name: 'x' })).toMatchObject({ status: 200 });
  }

  clearInterval(requests);
  for (const socket of slow) socket.destroy();
  for (const { call } of callers) {
    const hasResponse = async () =>
      expect(await call(server, 'listPlants', { limit: 1 })).toMatchObject({ status: 200 });
    await vi.waitFor(hasResponse);
  }
});

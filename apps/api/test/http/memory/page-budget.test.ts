import { expect, it, onTestFinished, vi } from 'vitest';
import { callers } from '../../fixtures/callers.ts';
import { authorization, openSocket, rawRequest } from '../../fixtures/raw-request.ts';
import { startServer } from '../../fixtures/running-server.ts';

it('rejects lists but accepts creates while slow clients do not read their pages', async () => {
  const memoryBudget = 4 * 2 ** 20;
  const server = await startServer('Postgres', { memoryBudget });
  onTestFinished(server.stop);
  const name = 'x'.repeat(2 ** 20 - 100);
  for (const id of [1n, 2n]) await server.store.create({ id, name });

  const request = rawRequest('GET /plants', [authorization]);
  const slow = Array.from({ length: 4 }, () => openSocket(server.url).pause());
  onTestFinished(() => slow.forEach((socket) => void socket.destroy()));
  // The clients repeat the request, because the operating system itself holds some MiB of each connection.
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

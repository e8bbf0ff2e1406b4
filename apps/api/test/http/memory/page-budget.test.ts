import { setImmediate } from 'node:timers/promises';
import postgres from 'postgres';
import { expect, it, onTestFinished, vi } from 'vitest';
import { callers } from '../../fixtures/callers.ts';
import { lockPlants } from '../../fixtures/lock-plants.ts';
import { authorization, openSocket, rawRequest } from '../../fixtures/raw-request.ts';
import { startServer, startServerOn } from '../../fixtures/running-server.ts';

it('rejects lists but accepts creates while slow clients do not read their pages', async () => {
  const memoryBudget = 4 * 2 ** 20;
  const server = await startServer({ memoryBudget });
  onTestFinished(server.stop);
  const name = 'x'.repeat(2 ** 20 - 100);
  for (const id of [1n, 2n]) await server.store.create({ id, name });

  const request = rawRequest('GET /plants', [authorization]);
  const slow = Array.from({ length: 4 }, () => openSocket(server.url).pause());
  onTestFinished(() => slow.forEach((socket) => void socket.destroy()));
  // The operating system can buffer some MiB of responses for each connection. The clients repeat the
  // request, so that the responses also fill the memory of the server.
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

it.each([
  { blocked: 'runs in the database', otherLists: 0, nameLength: 1 },
  { blocked: 'waits for its turn', otherLists: 2, nameLength: 2 ** 20 - 100 },
])(
  'releases the memory of a stream that ends while a read of the stream $blocked',
  async ({ otherLists, nameLength }) => {
    const opened = await startServer();
    onTestFinished(opened.stop);
    const sql = postgres(opened.databaseUrl, { onnotice: () => {} });
    onTestFinished(() => sql.end({ timeout: 0 }));
    const { next: after } = await opened.store.changes({});
    await opened.store.create({ id: 1n, name: 'x'.repeat(nameLength) });

    const statementsWait = (count: number) =>
      vi.waitFor(async () => {
        const waiting = await sql`
        select from pg_locks where relation = 'plants'::regclass and not granted`;
        expect(waiting).toHaveLength(count);
      });

    const canRead = Promise.withResolvers<void>();
    const reads: Promise<unknown>[] = [];
    const server = await startServerOn(
      {
        ...opened.store,
        async *follow(options) {
          const pages = opened.store.follow(options);
          await canRead.promise;
          for (;;) {
            const read = pages.next();
            reads.push(read);
            yield (await read).value;
          }
        },
      },
      { memoryBudget: 4 * 2 ** 20 },
    );
    onTestFinished(server.stop);

    const timers = vi.spyOn(globalThis, 'setTimeout');
    onTestFinished(() => timers.mockRestore());
    const headers = { authorization: `Bearer ${server.token}`, 'last-event-id': after };
    const stream = await fetch(`${server.url}/trpc/plantChanges`, { headers });
    const [endStream] = timers.mock.calls.find(([callback]) => callback.name === 'end') ?? [];

    let unlock = await lockPlants(opened.databaseUrl);
    const others = Array.from({ length: otherLists }, () => opened.store.list({ limit: 100 }));
    await statementsWait(otherLists);
    canRead.resolve();
    // During this turn of the event loop, the read of the stream enters the queue.
    await setImmediate();
    await statementsWait(otherLists || 1);
    endStream?.();
    expect(await stream.text()).toContain('event: connected');
    await unlock();
    await Promise.allSettled([...others, ...reads]);
    expect(reads).toHaveLength(1);

    // The memory budget has room for one list, but not for two lists.
    const [rest] = callers;
    // On a busy machine, the first list can reach its deadline.
    await vi.waitFor(async () => {
      unlock = await lockPlants(opened.databaseUrl);
      const list = rest?.call(server, 'listPlants', {});
      try {
        await statementsWait(1);
        expect(await rest?.call(server, 'listPlants', {})).toMatchObject({ error: 50301 });
      } finally {
        await unlock();
      }
      expect(await list).toMatchObject({ status: 200 });
    });
  },
);

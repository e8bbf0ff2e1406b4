import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { allPlants } from '@plant-store/client';
import { hasPosixSignals } from '@plant-store/test-setup';
import { expect, onTestFinished, test } from 'vitest';
import { start } from './fixtures/run.ts';
import { useStore } from './fixtures/store.ts';

const store = useStore();

/** Starts a server that responds in place of the store, and returns the settings for this server. */
async function serve(onRequest: RequestListener) {
  const server = createServer(onRequest).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo; // The cast is safe, because the server has a port.
  return { ...store.env, PLANT_STORE_URL: `http://127.0.0.1:${port}` };
}

test('the import continues after the server is killed and restarted, with correct totals', async () => {
  const { child, result } = start(['import', '-', '--json'], { env: store.env });
  const rows = (from: number) =>
    Array.from({ length: 5_000 }, (_, at) => `${from + at},Plant ${from + at}\n`).join('');
  child.stdin.write(`id,name\n${rows(0)}`);
  await expect.poll(() => store.client.getPlant.query({ id: 3_999n }).catch(() => {})).toBeTruthy();
  child.stdin.write(rows(5_000));
  store.server.child.kill('SIGKILL');
  await store.server.ended();
  child.stdin.write(rows(10_000));
  await store.restart();
  child.stdin.end(rows(15_000));
  const { code, stdout } = await result;
  const { created, exists, ...others } = JSON.parse(stdout);
  expect({ code, stored: created + exists, ...others }).toMatchObject({
    code: 0,
    stored: 20_000,
    unconfirmed: 0,
  });
  let count = 0n;
  for await (const { id } of allPlants(store.client, { limit: 1000 })) expect(id).toBe(count++);
  expect(count).toBe(20_000n);
});

test.skipIf(!hasPosixSignals).each(['SIGINT', 'SIGTERM'] as const)(
  '%s ends an import that waits for its input, and the import still writes its totals',
  async (signal) => {
    const { child, result } = start(['import', '-', '--json'], { env: store.env });
    child.stdin.write('{"id":-1,"name":"Hoya"}\n'.repeat(200_000));
    await expect.poll(() => store.client.getPlant.query({ id: -1n }).catch(() => {})).toBeTruthy();
    const began = performance.now();
    child.kill(signal);
    const { code, stdout } = await result;
    expect(performance.now() - began).toBeLessThan(60_000);
    expect(code).toBe(signal === 'SIGINT' ? 130 : 143);
    const { lines, created, exists, unconfirmed } = JSON.parse(stdout);
    expect(created + exists + unconfirmed).toBe(lines);
    await store.client.deletePlant.mutate({ id: -1n });
  },
);

test.skipIf(!hasPosixSignals)('SIGINT ends an import whose server does not respond', async () => {
  const { promise: requested, resolve } = Promise.withResolvers<void>();
  const env = await serve(() => resolve());
  const { child, result } = start(['import', '-'], { env });
  child.stdin.end('{"id":1,"name":"Hoya"}\n');
  await requested;
  child.kill('SIGINT');
  expect(await result).toEqual({
    code: 130,
    stdout: '1 lines, 1 unconfirmed\n',
    stderr: 'the import is not complete: run it again\n',
  });
});

test('the import repeats only the rows with a temporary error', async () => {
  const bodies: { id: number }[][] = [];
  const env = await serve(async (request, response) => {
    const { plants } = JSON.parse(String(await buffer(request)));
    bodies.push(plants);
    const busy = { result: 'error', error: 50301, message: 'overloaded' };
    const results = plants.map(({ id }: { id: number }) =>
      id === 2 && bodies.length === 1 ? { id, ...busy } : { id, result: 'created' },
    );
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ results }));
  });
  const { child, result } = start(['import', '-'], { env });
  child.stdin.end('{"id":1,"name":"Hoya"}\n{"id":2,"name":"Aloe"}\n');
  expect(await result).toMatchObject({ code: 0, stdout: '2 lines, 2 created\n' });
  expect(bodies.map((plants) => plants.map(({ id }) => id))).toEqual([[1, 2], [2]]);
});

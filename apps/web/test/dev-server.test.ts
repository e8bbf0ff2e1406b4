import { once } from 'node:events';
import { createServer as createStore } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';
import { expect, it, onTestFinished, vi } from 'vitest';

it('serves the console with Vite, and sends the requests of the console to the server at PORT', async () => {
  const store = createStore((_request, response) => response.end('ready')).listen(0, '127.0.0.1');
  await once(store, 'listening');
  onTestFinished(() => void store.close());
  // The cast is safe, because the server listens on a TCP port.
  vi.stubEnv('PORT', String((store.address() as AddressInfo).port));
  onTestFinished(() => void vi.unstubAllEnvs());

  const root = fileURLToPath(new URL('..', import.meta.url));
  const console = await createServer({ root, logLevel: 'silent', server: { port: 0, ws: false } });
  onTestFinished(() => console.close());
  await console.listen();
  const response = await fetch(new URL('readyz', console.resolvedUrls?.local[0]));
  expect(await response.text()).toBe('ready');
});

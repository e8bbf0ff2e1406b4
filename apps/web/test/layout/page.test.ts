import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, it } from 'vitest';
import { openPage } from '../fixtures/open-page.ts';
import { sharedServer } from '../fixtures/shared-servers.ts';

const dist = fileURLToPath(new URL('../../dist/console/', import.meta.url));

it('has at most 160 kB of gzipped JavaScript', () => {
  const scripts = readdirSync(dist).filter((name) => name.endsWith('.js'));
  const sizes = scripts.map((name) => gzipSync(readFileSync(dist + name), { level: 9 }).length);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const advice = 'find what has grown in dist/console: when it is worth it, raise this limit';
  expect(total, advice).toBeLessThan(160_000);
});

const { address, url, token } = sharedServer();

let proxy: Server | undefined;

afterEach(() => proxy?.close().closeAllConnections());

it('loads only one script and one style sheet', async () => {
  const page = await openPage(address());
  await page.getByText('This token may').waitFor();
  const loaded = await page.evaluate(() =>
    performance.getEntriesByType('resource').map(({ name }) => name),
  );
  const parts = loaded.filter((name) => /[.](js|css)$/.test(name));
  expect(parts.map((name) => name.replace(/.*[.]/, '')).toSorted()).toEqual(['css', 'js']);
});

it('loads behind a proxy with a path prefix', async () => {
  proxy = createServer((incoming, outgoing) => {
    const path = incoming.url?.replace(/^\/behind\/a\/prefix/, '') ?? '';
    const { method, headers } = incoming;
    incoming.pipe(
      httpRequest(url + path, { method, headers }, (response) => {
        outgoing.writeHead(response.statusCode ?? 500, response.headers);
        response.pipe(outgoing);
      }),
    );
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  // The cast is safe, because the server has a port.
  const { port } = proxy.address() as AddressInfo;
  const page = await openPage(`http://127.0.0.1:${port}/behind/a/prefix/#token=${token}`);
  const paths: string[] = [];
  page.on('request', (request) => paths.push(new URL(request.url()).pathname));
  await page.reload();
  await page.getByText('This token may create, read, and delete plants').waitFor();
  await page.getByText('Connected').waitFor();
  expect(paths.length).toBeGreaterThan(4);
  expect(paths.filter((path) => !path.startsWith('/behind/a/prefix/'))).toEqual([]);
});

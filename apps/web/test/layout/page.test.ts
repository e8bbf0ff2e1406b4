import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, it } from 'vitest';
import { openPage } from '../fixtures/open-page.ts';
import { address, token, url } from '../fixtures/shared-server.ts';

const dist = fileURLToPath(new URL('../../dist/console/', import.meta.url));

it.each([
  { script: 'index', most: 130_000 },
  { script: 'later', most: 40_000 },
])('has at most $most bytes in the gzipped script $script', ({ script, most }) => {
  const names = readdirSync(dist).filter((name) => name.startsWith(script) && name.endsWith('.js'));
  const [length] = names.map((name) => gzipSync(readFileSync(dist + name), { level: 9 }).length);
  expect(names).toHaveLength(1);
  const advice = 'find what has grown in dist/console: when it is worth it, raise this limit';
  expect(length, advice).toBeLessThan(most);
});

let proxy: Server | undefined;

afterEach(() => proxy?.close().closeAllConnections());

it('loads the second of two scripts only after the plants, and loads a single style sheet', async () => {
  const page = await openPage(address());
  await page.getByText('This token may').waitFor();
  const loaded = await page.waitForFunction(() => {
    const names = performance.getEntriesByType('resource').map(({ name }) => name);
    return names.some((name) => name.includes('/later-')) ? names : undefined;
  });
  const parts = /(index|style|later|listPlants)(?=[^/]*$)/;
  const order = ((await loaded.jsonValue()) ?? []).flatMap((name) => parts.exec(name)?.[1] ?? []);
  expect([...new Set(order)].toSorted()).toEqual(['index', 'later', 'listPlants', 'style']);
  expect(order.indexOf('later')).toBeGreaterThan(order.indexOf('listPlants'));
});

it('works behind a proxy that adds a path prefix', async () => {
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
  // The cast is safe, because the server listens on a TCP port.
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

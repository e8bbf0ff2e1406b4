import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { listen } from '@plant-store/test-setup';
import { describe, expect, it } from 'vitest';
import { share, shareServer, token } from '../fixtures/server.ts';
import { post } from '../fixtures/surfaces.ts';

const server = shareServer();
const proxy = share(() => startPrefixProxy(server.url, '/store'));

/** Starts a proxy that maps a path prefix to a server, as nginx does with `location /store/`. */
async function startPrefixProxy(target: string, prefix: string) {
  const proxy = createServer((incoming, outgoing) => {
    const { method, url = '', headers } = incoming;
    if (!url.startsWith(`${prefix}/`)) return outgoing.writeHead(404).end('outside the prefix');
    const forwarded = request(
      target + url.slice(prefix.length),
      { method, headers },
      (response) => {
        outgoing.writeHead(response.statusCode ?? 502, response.rawHeaders);
        response.pipe(outgoing);
      },
    );
    return incoming.pipe(forwarded);
  });
  return {
    url: (await listen(proxy)) + prefix,
    async stop() {
      proxy.closeAllConnections();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}

/** Returns the addresses of the files that a page loads. `base` is the address of the page. */
const addressesOn = (page: string, base: string) =>
  [...page.matchAll(/<(?:link|script)[^>]* (?:src|href)="([^"]+)"/g)].map(([, address = '']) =>
    String(new URL(address, base)),
  );

describe('the API reference', () => {
  it.each(['/docs', '/docs/'])(
    'at %s loads only files of the server, even behind a path prefix',
    async (path) => {
      for (const base of [server.url, proxy.url]) {
        const response = await fetch(base + path);
        expect(response.status).toBe(200);
        expect(response.headers.get('content-type')).toMatch(/^text\/html/);
        const page = await response.text();
        expect(page).not.toMatch(/(src|href)="(https?:)?\/\//);
        const addresses = addressesOn(page, response.url);
        expect(addresses.length).toBeGreaterThan(0);
        for (const address of addresses) {
          expect(address.startsWith(base)).toBe(true);
          expect((await fetch(address)).status).toBe(200);
        }
      }
    },
  );

  it('runs only scripts that the server sends, and cannot be framed', async () => {
    const { headers } = await fetch(`${server.url}/docs`);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(/script-src ([^;]*)/.exec(policy)?.[1]).not.toMatch(/unsafe|https?:/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    for (const name of ['x-powered-by', 'server']) expect(headers.get(name)).toBeNull();
  });
});

it('/llms.txt lists pages that exist', async () => {
  const response = await fetch(`${server.url}/llms.txt`);
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  const text = await response.text();
  const paths = [...text.matchAll(/\]\(\.(\/[^)]+)\)/g)].map(([, path = '']) => path);
  expect(paths.length).toBeGreaterThan(0);
  for (const path of paths) expect((await fetch(server.url + path)).status).toBe(200);
});

it('a client of the OpenAPI document finds the store behind a path prefix', async () => {
  const document = Object(await (await fetch(`${proxy.url}/openapi.json`)).json());
  // Clients resolve the URL of a server from the address of the document, and append the path.
  const base = new URL(document.servers[0].url, `${proxy.url}/openapi.json`).href;
  const target = { url: base.replace(/\/$/, ''), token };
  const created = await post(target, '/plants', '{"id":1,"name":"Hoya carnosa"}');
  expect(await created.json()).toEqual({ name: 'Hoya carnosa' });
});

describe('the console', () => {
  const html = { accept: 'text/html,application/xhtml+xml,image/webp;q=0.8' };
  const get = (path: string, headers: Record<string, string>) =>
    fetch(server.url + path, { headers });

  it.each([
    ['/', {}],
    ['/', { accept: '*/*' }],
    ['/', { accept: 'application/json' }],
    ['/console/nothing.js', html],
    ['/console/', html],
    ['/console/..%2findex.html', html],
    ['/console/%2e%2e%2findex.html', html],
  ])('has no page at %s for %j', async (path, headers) => {
    const response = await get(path, headers);
    expect([response.status, Object(await response.json()).error]).toEqual([404, 40400]);
  });
});

const read = (path: string) => readFile(new URL(`../../../../${path}`, import.meta.url), 'utf8');

it('the picture in docs/architecture.md has the hooks of server.ts in their order', async () => {
  const server = await read('apps/api/src/server.ts');
  const hooks = [...server.matchAll(/addHook\('onRequest', (\w+)[),(]/g)].map(([, name]) => name);
  expect(hooks.length).toBeLessThanOrEqual(10);
  const picture = /```mermaid\n(.*?)```/s.exec(await read('docs/architecture.md'))?.[1] ?? '';
  const steps = [...picture.matchAll(/--> (\w+)/g)].map(([, name]) => name);
  expect(steps.filter((step) => hooks.includes(step))).toEqual(hooks);
  for (const step of ['parseJsonBodies', 'sendJson']) expect(picture).toContain(`${step}:`);
});

import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { shareServer } from '../fixtures/server.ts';

const server = shareServer();

describe('the API reference', () => {
  it.each(['/docs', '/docs/'])(
    'at %s loads only files of the server, by relative addresses',
    async (path) => {
      const response = await fetch(server.url + path);
      expect(response.headers.get('content-type')).toMatch(/^text\/html/);
      const page = await response.text();
      const addresses = [...page.matchAll(/<(?:link|script)[^>]* (?:src|href)="([^"]+)"/g)];
      expect(addresses.length).toBeGreaterThan(0);
      for (const [, address = ''] of addresses) {
        expect(address).toMatch(/^\.?[\w-]/);
        expect(address).not.toContain('://');
        expect((await fetch(new URL(address, response.url))).status).toBe(200);
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
  ])('has no page at %s for the headers %j', async (path, headers) => {
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

import { expect, it } from 'vitest';
import { shareServer } from '../fixtures/running-server.ts';

const server = shareServer();

it('serves an API reference that loads nothing from other hosts', async () => {
  const response = await fetch(`${server.url}/docs`);
  const page = await response.text();
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toMatch(/^text\/html/);
  expect(page).toContain("'openapi.json'");
  expect(page).not.toMatch(/(src|href)="(https?:)?\/\//);
  for (const [, address = ''] of page.matchAll(/(?:src|href)="([^"]+)"/g)) {
    expect((await fetch(new URL(address, response.url))).status).toBe(200);
  }
});

it('allows the API reference to run only its own scripts', async () => {
  const { headers } = await fetch(`${server.url}/docs`);
  const policy = headers.get('content-security-policy');
  expect(policy).toMatch(/script-src 'self' 'sha256-[\w+/]+=*';/);
  expect(policy).toContain("default-src 'self'");
  expect(policy).toContain("frame-ancestors 'none'");
});

it.each([
  ['/docs', 'same-origin'],
  ['/openapi.json', 'cross-origin'], // Editors and generators in a browser read this file.
])('sends %s with headers against sniffing, framing and referrers', async (path, readers) => {
  const { headers } = await fetch(server.url + path);
  expect(Object.fromEntries(headers)).toMatchObject({
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': readers,
    'referrer-policy': 'no-referrer',
    'strict-transport-security': expect.stringMatching(/^max-age=\d{8,}/),
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'SAMEORIGIN',
  });
  expect(headers.get('x-powered-by')).toBeNull();
  expect(headers.get('server')).toBeNull();
});

it('serves an icon for its pages', async () => {
  const response = await fetch(`${server.url}/favicon.ico`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toMatch(/^image\/svg\+xml/);
});

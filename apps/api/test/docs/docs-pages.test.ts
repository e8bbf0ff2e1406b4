import { errorAdvice, errorCatalogue, errorKinds } from '@plant-store/schemas';
import { expect, it } from 'vitest';
import { errorExamples } from '../../openapi/error-examples.ts';
import { shareServer } from '../fixtures/running-server.ts';

const server = shareServer();

/** Gets a page, and returns the type and the text of the response. */
async function get(path: string) {
  const response = await fetch(server.url + path);
  expect(response.status).toBe(200);
  return { type: response.headers.get('content-type'), text: await response.text() };
}

it('serves an API reference that loads nothing from other hosts', async () => {
  const { type, text } = await get('/docs');
  expect(type).toMatch(/^text\/html/);
  expect(text).toContain("'openapi.json'");
  expect(text).not.toMatch(/(src|href)="(https?:)?\/\//);
});

it('serves a page of errors that runs no scripts and loads nothing from other hosts', async () => {
  const { type, text } = await get('/docs/errors');
  expect(type).toBe('text/html; charset=utf-8');
  expect(text).not.toMatch(/<script|(src|href)="(https?:)?\/\//);
  expect(text).toContain('href="../docs"');
});

it('explains every error code on the page of errors, with an example and advice', async () => {
  const { text: page } = await get('/docs/errors');
  for (const kind of errorKinds) {
    const { code } = errorCatalogue[kind];
    const [, after = ''] = page.split(`<section id="${code}">`, 2);
    const [section = ''] = after.split('</section>', 1);
    expect(section).toContain(JSON.stringify(errorExamples[kind]).replaceAll('<', '&lt;'));
    const plain = section.replaceAll(/<\/?code>/g, '`').replaceAll('&lt;', '<');
    expect(plain).toContain(`What to do: ${errorAdvice(kind).action}.`);
  }
});

it('lists the pages for language models, and the addresses of a running store', async () => {
  const { type, text } = await get('/llms.txt');
  expect(type).toBe('text/plain; charset=utf-8');
  const paths = [...text.matchAll(/\]\(\.(\/[^)]+)\)/g)].map(([, path = '']) => path);
  expect(paths).toHaveLength(3);
  for (const path of paths) await get(path);
});

it.each([
  ['/docs', /script-src 'self' 'sha256-[\w+/]+=*';/],
  ['/docs/errors', /script-src 'self';/],
])('lets the page %s run only scripts that this server sends', async (path, scripts) => {
  const { headers } = await fetch(server.url + path);
  const policy = headers.get('content-security-policy');
  expect(policy).toMatch(scripts);
  expect(policy).toContain("default-src 'self'");
  expect(policy).toContain("frame-ancestors 'none'");
});

it.each([
  ['/docs', 'same-origin'],
  // Editors and generators in a browser read the document from other origins.
  ['/openapi.json', 'cross-origin'],
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

it('serves the icon of the pages', async () => {
  expect((await get('/favicon.ico')).type).toMatch(/^image\/svg\+xml/);
});

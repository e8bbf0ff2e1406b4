import { EventEmitter } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PlantStore } from '@plant-store/core';
import { errorCatalogue } from '@plant-store/schemas';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildServer } from '../../src/server.ts';

const directory = mkdtempSync(join(tmpdir(), 'plant-store-console-'));
const script = 'console.log("hello");\n'.repeat(100);
const html = { accept: 'text/html,application/xhtml+xml,image/webp;q=0.8' };

let server: FastifyInstance;

beforeAll(async () => {
  mkdirSync(join(directory, 'console'));
  writeFileSync(join(directory, 'index.html'), '<!doctype html><title>Console</title>');
  writeFileSync(join(directory, 'console', 'index-4f2a.js'), script);
  server = await build(directory);
});

afterAll(async () => {
  await server.close();
  rmSync(directory, { recursive: true });
});

function build(consoleDirectory: string): Promise<FastifyInstance> {
  // The requests of this test use no store.
  const parts = { accessTokens: {}, events: new EventEmitter(), stopWaiting() {} };
  const store = parts as unknown as PlantStore;
  const authenticate = () => undefined;
  return buildServer({ store, consoleDirectory, authenticate, logLevel: 'silent' });
}

const get = (url: string, headers: Record<string, string> = {}) => server.inject({ url, headers });

describe('the HTML page of the console', () => {
  // The names of the files change, so browsers must revalidate the page.
  it('a browser gets the page at the path /, and revalidates the page each time', async () => {
    const { statusCode, headers, body } = await get('/', html);
    expect([statusCode, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers['cache-control']).toBe('no-cache');
    expect(body).toContain('<title>Console</title>');
    const head = await server.inject({ method: 'HEAD', url: '/', headers: html });
    expect([head.statusCode, head.body]).toEqual([200, '']);
  });

  it.each([
    ['TEXT/HTML', 200],
    ['application/json, text/html ; Q=0.1', 200],
    ['text/html;q=0, text/plain', 404],
    ['text/html;q=0.000', 404],
    ['application/text/html-not', 404],
  ])('the response to a request with Accept: %s has the status %i', async (accept, status) => {
    const response = await get('/', { accept });
    expect(response.statusCode).toBe(status);
    expect(response.headers['vary']).toMatch(/^accept\b/);
  });

  it('allows only files of the same origin, and no inline script or style', async () => {
    const { headers } = await get('/', html);
    expect(headers).toMatchObject({
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    const policy = String(headers['content-security-policy']);
    const rules = ["default-src 'none'", "script-src 'self'", "style-src 'self'"];
    expect(policy.split('; ')).toEqual(
      expect.arrayContaining([...rules, "frame-ancestors 'none'"]),
    );
    expect(policy).not.toContain('unsafe');
  });
});

describe('the files of the console', () => {
  it('allows browsers to cache the file for a year, because the name changes with the content', async () => {
    const response = await get('/console/index-4f2a.js');
    expect(response.body).toBe(script);
    expect(response.headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(response.headers['cache-control']).toBe('public, max-age=31536000, immutable');
  });

  it.each([
    { accepted: 'gzip, deflate', coding: 'gzip' },
    { accepted: 'gzip, deflate, br', coding: 'br' },
  ])('a client that accepts $accepted gets a file in $coding', async ({ accepted, coding }) => {
    const { headers, rawPayload } = await get('/console/index-4f2a.js', {
      'accept-encoding': accepted,
    });
    expect(headers['content-encoding']).toBe(coding);
    expect(headers['vary']).toBe('accept-encoding');
    expect(rawPayload.length).toBeLessThan(script.length / 10);
  });
});

const pathUnknown = { error: errorCatalogue.pathUnknown.code };

it.each([
  ...['/console/other.js', '/console/', '/console/../index.html', '/console/%2e%2e/index.html'].map(
    (path) => ['GET', path, html] as const,
  ),
  ['GET', '/', {}],
  ['GET', '/', { accept: '*/*' }],
  ['GET', '/', { accept: 'application/json' }],
  ['POST', '/', html],
] as const)('%s %s gets 404 with the headers %o', async (method, url, headers) => {
  const response = await server.inject({ method, url, headers });
  expect(response.statusCode).toBe(404);
  expect(response.json()).toMatchObject(pathUnknown);
});

it('responds to a request for / with 404 until the console files exist', async () => {
  const later = join(directory, 'later');
  const bare = await build(later);
  expect((await bare.inject({ url: '/', headers: html })).json()).toMatchObject(pathUnknown);
  mkdirSync(later);
  writeFileSync(join(later, 'index.html'), '<!doctype html>');
  expect((await bare.inject({ url: '/', headers: html })).statusCode).toBe(200);
  await bare.close();
});

it('serves the console after an earlier read of the files has failed', async () => {
  const broken = mkdtempSync(join(directory, 'broken-'));
  writeFileSync(join(broken, 'index.html'), '<!doctype html>');
  writeFileSync(join(broken, 'large.js'), '');
  // `readFile` cannot read a file of 2 GiB, so the read fails.
  truncateSync(join(broken, 'large.js'), 2 ** 31);
  const bare = await build(broken);
  const error = await bare.inject({ url: '/', headers: html });
  expect(error.json()).toMatchObject({ error: errorCatalogue.internal.code });
  rmSync(join(broken, 'large.js'));
  expect((await bare.inject({ url: '/', headers: html })).statusCode).toBe(200);
  await bare.close();
});

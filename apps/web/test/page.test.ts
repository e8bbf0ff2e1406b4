import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer as createStore } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { createServer } from 'vite';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openPage, tableOf } from './fixtures/open-page.ts';
import { address } from './fixtures/shared-server.ts';

const dist = fileURLToPath(new URL('../dist/console/', import.meta.url));

it('the first script has at most 118 kB, and each other script has at most 30 kB, both gzipped', () => {
  const scripts = readdirSync(dist).filter((name) => name.endsWith('.js'));
  expect(scripts.length).toBeGreaterThan(1);
  const advice = 'find what has grown in dist/console: if the growth is worth it, raise this limit';
  for (const name of scripts) {
    const { length } = gzipSync(readFileSync(dist + name), { level: 9 });
    expect(length, advice).toBeLessThan(name.startsWith('index') ? 118_000 : 30_000);
  }
});

it('the list loads the second script and one style sheet, and an import loads its own script', async () => {
  const page = await openPage(address());
  await tableOf(page).or(page.getByText('No plants yet')).waitFor();
  const loaded = () =>
    page.evaluate(() =>
      performance.getEntriesByType('resource').flatMap(({ name }) => {
        return /\/console\/([a-z-]+)-/.exec(name)?.[1] ?? [];
      }),
    );
  await expect.poll(loaded).toContain('later');
  expect((await loaded()).filter((name) => name === 'style')).toEqual(['style']);
  expect(await loaded()).not.toContain('import-plants');
  await page
    .getByRole('button', { name: /^Import/ })
    .first()
    .click();
  await page.getByLabel('Choose a file').waitFor();
  expect(await loaded()).toContain('import-plants');
});

it('Vite sends the requests of the console to the server at PORT', async () => {
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

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPlantStore } from '@plant-store/server';
import { startBrowser } from '@plant-store/test-setup/browser';
import { chromium } from 'playwright-core';
import { createServer } from 'vite';
import { it, onTestFinished } from 'vitest';

it('adds a plant to a store that the test starts', async () => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'plants-'));
  onTestFinished(() => rm(dataDirectory, { recursive: true }));
  const store = await startPlantStore({ dataDirectory });
  onTestFinished(store.close);
  const proxy = { '/trpc': store.url };
  const site = await createServer({ root: import.meta.dirname, server: { port: 0, proxy } });
  onTestFinished(site.close);
  await site.listen();
  const browser = await startBrowser();
  onTestFinished(browser.stop);
  const page = await (await chromium.connect(browser.endpoint)).newPage();
  page.on('dialog', (dialog) => dialog.accept(store.token));
  await page.goto(site.resolvedUrls?.local[0] ?? '');
  await page.getByLabel('Name').fill('Hoya carnosa');
  await page.getByRole('button', { name: 'Add' }).click();
  await page.getByRole('listitem').getByText('Hoya carnosa', { exact: true }).waitFor();
});

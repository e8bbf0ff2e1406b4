import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPlantStore } from '@plant-store/server';
import { createDatabase, startOnPostgres } from '@plant-store/test-setup';
import { type RunningBrowser, startBrowser } from '@plant-store/test-setup/browser';
import { type Browser, chromium, type Page } from 'playwright-core';
import { createServer, type ViteDevServer } from 'vite';
import { afterAll, beforeAll, beforeEach, expect, inject, it, onTestFinished } from 'vitest';

let store: Awaited<ReturnType<typeof startOnPostgres>>;
let site: ViteDevServer;
let running: RunningBrowser;
let browser: Browser;
let page: Page;
/** Counts the prompts for the access token. */
let prompts: number;

beforeAll(async () => {
  running = await startBrowser();
  browser = await chromium.connect(running.endpoint);
  store = await startOnPostgres(await createDatabase(inject('postgresUrl')));
  site = await createServer({
    root: import.meta.dirname,
    server: { port: 0, host: '127.0.0.1', proxy: { '/trpc': store.env.PLANT_STORE_URL } },
    logLevel: 'warn',
  });
  await site.listen();
});

afterAll(async () => {
  await running.stop();
  await site.close();
  await store.stop();
});

beforeEach(async () => {
  page = await browser.newPage();
  prompts = 0;
  page.on('dialog', (dialog) => {
    prompts++;
    return dialog.accept(store.env.PLANT_STORE_TOKEN);
  });
  await page.goto(site.resolvedUrls?.local[0] ?? '');
});

const listed = (name: string) => page.getByRole('listitem').getByText(name, { exact: true });

async function add(name: string): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Add' }).click();
}

it('lists the plants of the store and a new plant, and asks for the access token only once', async () => {
  await add('Monstera deliciosa');
  await listed('Monstera deliciosa').waitFor();
  await page.reload();
  await listed('Monstera deliciosa').waitFor();
  expect(prompts).toBe(1);
});

it('shows a new plant before the store has responded', async () => {
  const { promise: mayRespond, resolve: respond } = Promise.withResolvers<void>();
  await page.route('**/trpc/createPlant*', async (route) => {
    await mayRespond;
    await route.continue();
  });
  await add('Ficus lyrata');
  await page.getByText('Ficus lyrata …').waitFor();
  respond();
  await listed('Ficus lyrata').waitFor();
  await page.getByText('Ficus lyrata …').waitFor({ state: 'detached' });
});

it('removes a rejected plant from the list, and shows the reason', async () => {
  await add('Not a name: \u0000');
  await page.getByRole('alert').getByText('is not added: invalid input: name must not').waitFor();
  expect(await page.getByRole('listitem').filter({ hasText: 'Not a name' }).count()).toBe(0);
});

it('adds a plant to a store that startPlantStore has started', async () => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'plants-'));
  onTestFinished(() => rm(dataDirectory, { recursive: true }));
  const store = await startPlantStore({ dataDirectory });
  onTestFinished(store.close);
  const proxy = { '/trpc': store.url };
  const ownSite = await createServer({ root: import.meta.dirname, server: { port: 0, proxy } });
  onTestFinished(ownSite.close);
  await ownSite.listen();
  const ownPage = await browser.newPage();
  ownPage.on('dialog', (dialog) => dialog.accept(store.token));
  await ownPage.goto(ownSite.resolvedUrls?.local[0] ?? '');
  await ownPage.getByLabel('Name').fill('Hoya carnosa');
  await ownPage.getByRole('button', { name: 'Add' }).click();
  await ownPage.getByRole('listitem').getByText('Hoya carnosa', { exact: true }).waitFor();
});

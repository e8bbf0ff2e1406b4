import { fileURLToPath } from 'node:url';
import { createPlantStoreClient } from '@plant-store/client';
import {
  createDatabase,
  freePort,
  type StartedProcess,
  startProcess,
} from '@plant-store/test-setup';
import { type RunningBrowser, startBrowser } from '@plant-store/test-setup/browser';
import { chromium, type Page } from 'playwright-core';
import { createServer, type ViteDevServer } from 'vite';
import { afterAll, beforeAll, inject, it } from 'vitest';

const token = 'secret-of-the-tests';
let env: Record<string, string>;
let url: string;
let instance: StartedProcess;
let site: ViteDevServer;
let running: RunningBrowser;
let page: Page;

async function startInstance(): Promise<void> {
  instance = startProcess(env);
  await instance.printed(/REST +(\S+)\/plants/);
}

beforeAll(async () => {
  const PORT = String(await freePort());
  const DATABASE_URL = await createDatabase(inject('postgresUrl'));
  env = { PORT, DATABASE_URL, PLANT_STORE_TOKEN: token };
  url = `http://127.0.0.1:${PORT}`;
  await startInstance();
  site = await createServer({
    root: fileURLToPath(new URL('.', import.meta.url)),
    server: { port: 0, host: '127.0.0.1', proxy: { '/trpc': url } },
    logLevel: 'silent', // Hides the requests that fail while no instance runs.
  });
  await site.listen();
  running = await startBrowser();
  const browser = await chromium.connect(running.endpoint);
  page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  page.on('dialog', (dialog) => dialog.accept(token));
  await page.goto(`${site.resolvedUrls?.local[0]}live`);
});

afterAll(async () => {
  await running.stop();
  await site.close();
  instance.child.kill();
  await instance.ended();
});

const shows = (title: string) => page.getByRole('heading', { name: title }).waitFor();
const plant = (name: string) => page.getByRole('listitem').getByText(name, { exact: true });

it('shows each change of the plants, even after the instance was killed and started again', async () => {
  const { createPlant, deletePlant } = createPlantStoreClient({ url, token });
  await createPlant.mutate({ id: 1n, name: 'Monstera deliciosa' });
  await shows('My 1 plants');
  await createPlant.mutate({ id: 9007199254740993n, name: 'Hoya carnosa' });
  await plant('Hoya carnosa').waitFor();

  instance.child.kill('SIGKILL');
  await instance.ended();
  await startInstance();
  await deletePlant.mutate({ id: 1n });
  await createPlant.mutate({ id: 2n, name: 'Ficus lyrata' });
  await plant('Monstera deliciosa').waitFor({ state: 'detached' });
  await plant('Ficus lyrata').waitFor();
  await shows('My 2 plants');
});

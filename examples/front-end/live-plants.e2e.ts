import { createPlantStoreClient } from '@plant-store/client';
import { createDatabase, freePort, startProcess } from '@plant-store/test-setup';
import { startBrowser } from '@plant-store/test-setup/browser';
import { chromium } from 'playwright-core';
import { createServer } from 'vite';
import { inject, it, onTestFinished } from 'vitest';

const token = 'secret-of-the-tests';

it('shows each change of the plants, even after the instance was killed and started again', async () => {
  const PORT = String(await freePort());
  const DATABASE_URL = await createDatabase(inject('postgresUrl'));
  const startInstance = async () => {
    const instance = startProcess({ PORT, DATABASE_URL, PLANT_STORE_TOKEN: token });
    const kill = async () => {
      instance.child.kill('SIGKILL');
      await instance.ended();
    };
    onTestFinished(kill);
    await instance.listening();
    return kill;
  };
  const killInstance = await startInstance();
  const url = `http://127.0.0.1:${PORT}`;
  const site = await createServer({
    root: import.meta.dirname,
    server: { port: 0, host: '127.0.0.1', proxy: { '/trpc': url } },
    logLevel: 'silent', // Hides the requests that fail while no instance runs.
  });
  onTestFinished(site.close);
  await site.listen();
  const browser = await startBrowser();
  onTestFinished(browser.stop);
  const page = await (await chromium.connect(browser.endpoint)).newPage();
  page.setDefaultTimeout(60_000);
  page.on('dialog', (dialog) => dialog.accept(token));
  await page.goto(`${site.resolvedUrls?.local[0]}live`);
  const shows = (title: string) => page.getByRole('heading', { name: title }).waitFor();
  const plant = (name: string) => page.getByRole('listitem').getByText(name, { exact: true });

  const { createPlant, deletePlant } = createPlantStoreClient({ url, token });
  await createPlant.mutate({ id: 1n, name: 'Monstera deliciosa' });
  await shows('My 1 plants');
  await createPlant.mutate({ id: 9007199254740993n, name: 'Hoya carnosa' });
  await plant('Hoya carnosa').waitFor();

  await killInstance();
  await startInstance();
  await deletePlant.mutate({ id: 1n });
  await createPlant.mutate({ id: 2n, name: 'Ficus lyrata' });
  await plant('Monstera deliciosa').waitFor({ state: 'detached' });
  await plant('Ficus lyrata').waitFor();
  await shows('My 2 plants');
});

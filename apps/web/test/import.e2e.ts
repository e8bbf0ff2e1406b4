import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { createPlantStoreClient } from '@plant-store/client';
import type { Page } from 'playwright-core';
import { expect, inject, it, onTestFinished } from 'vitest';
import { startServer, token } from './fixtures/global-setup.ts';
import { dialogOf, namesOf, openPage } from './fixtures/open-page.ts';
import { address, client, freshId, freshTag } from './fixtures/shared-server.ts';

async function openImport(to = address()): Promise<Page> {
  const page = await openPage(to);
  await page
    .getByRole('button', { name: /^Import/ })
    .first()
    .click();
  await dialogOf(page, 'Import').waitFor();
  return page;
}

const choose = (page: Page, name: string, content: string | Buffer) =>
  page
    .locator('input[type=file]')
    .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(content) });

/** Returns the lines of a CSV file with this number of plants. */
function csvOf(count: number, tag: string): string {
  const rows = Array.from({ length: count }, (_, i) => `${freshId()},Row ${i},${tag}`);
  return `id,name,tag\n${rows.join('\n')}\n`;
}

it('an import warns that it reads a file of Excel as Windows-1252, before it sends a plant', async () => {
  const page = await openImport();
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  const tag = freshTag();
  const [one, two] = [freshId(), freshId()];
  const rows = [`${one};Schönmalve;${tag}`, `x;Bad;${tag}`, `${two};Grünlilie;${tag}`];
  await choose(
    page,
    'excel.csv',
    Buffer.from(`Nr;Name;Family\r\n${rows.join('\r\n')}\r\n`, 'latin1'),
  );
  await page.getByText('excel.csv: semicolons, Windows-1252. 2 ready, 1 not').waitFor();
  await page.getByText('read as Windows-1252, which Excel on Windows writes').waitFor();
  await page
    .getByRole('listitem')
    .filter({ hasText: 'Line 3: id must be a whole number' })
    .waitFor();
  await page.getByText('Schönmalve').waitFor();
  expect(requests.filter((url) => url.includes('createPlants'))).toEqual([]);

  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save the rejected rows (1)' }).click();
  const saved = await download;
  expect(saved.suggestedFilename()).toBe('excel.rejects.csv');
  const content = await text(await saved.createReadStream());
  expect(content.replace('\ufeff', '')).toBe(`Nr;Name;Family\nx;Bad;${tag}\n`);

  await page.getByRole('button', { name: 'Import 2' }).click();
  await page.getByText('2 added, 1 not imported').waitFor();
  expect((await client.getPlant.query({ id: one })).name).toBe('Schönmalve');
  await page.getByRole('button', { name: 'Show the new plants' }).click();
  await page.getByText('Just added: 2 plants').waitFor();
  expect((await namesOf(page)).slice(0, 2)).toEqual(['Schönmalve', 'Grünlilie']);
});

it('an import adds the new plants of a file, and counts the stored plants and the taken ids', async () => {
  const [same, taken, fresh] = [freshId(), freshId(), freshId()];
  await client.createPlants.mutate({
    plants: [
      { id: same, name: 'Same' },
      { id: taken, name: 'Owner' },
    ],
  });
  const page = await openImport();
  await choose(
    page,
    'a.ndjson.gz',
    gzipSync(
      [
        `{"id":${same},"name":"Same"}`,
        `{"id":${taken},"name":"Other"}`,
        `{"id":${fresh},"name":"New"}`,
      ].join('\n'),
    ),
  );
  await page.getByRole('button', { name: 'Import 3' }).click();
  await page.getByText('1 added, 1 already there, 1 not imported').waitFor();
  await page
    .getByRole('listitem')
    .filter({ hasText: /Line 2: .*belongs to another plant/i })
    .waitFor();
  await page.getByRole('button', { name: 'Import another file' }).click();
  await page.getByLabel('Choose a file').waitFor();
});

it('an import explains why it cannot read a file, and imports nothing', async () => {
  const page = await openImport();
  await choose(page, 'price.csv', 'id,name,price\n1,Hoya,3\n');
  await page
    .getByRole('alert')
    .getByText(/price.*Nothing was imported/)
    .waitFor();
  await choose(page, 'quote.csv', 'id,name\n1,"Hoya\n2,Ficus\n');
  await page.getByRole('alert').getByText('quote.csv').waitFor();
});

it('an import accepts rows that the user pastes, and a file that the user drops on the page', async () => {
  const [pasted, dropped] = [freshId(), freshId()];
  const page = await openImport();
  await page.getByLabel('paste').fill(`number\tname\n${pasted}\tPasted`);
  await page.getByRole('button', { name: 'Check the rows' }).click();
  await page.getByText('Pasted rows: tabs. 1 ready').waitFor();
  await page.getByRole('button', { name: 'Import 1' }).click();
  await page.getByRole('button', { name: 'Close' }).last().click();
  expect((await client.getPlant.query({ id: pasted })).name).toBe('Pasted');

  const dataTransfer = await page.evaluateHandle((text) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([text], 'dropped.csv'));
    return transfer;
  }, `id,name\n${dropped},Dropped\n`);
  await page.dispatchEvent('main', 'dragover', { dataTransfer });
  await page.dispatchEvent('main', 'drop', { dataTransfer });
  await page.getByText('dropped.csv: commas. 1 ready').waitFor();
});

it('an import continues by itself after the server has restarted', async () => {
  const server = await startServer(inject('postgresUrl'));
  onTestFinished(server.stop);
  const page = await openImport(`${server.url}/#token=${token}`);
  await choose(page, 'plants.csv', csvOf(20_000, 'Restart'));
  const half = page.waitForResponse((response) => response.url().includes('createPlants'));
  await page.getByRole('button', { name: 'Import 20,000' }).click();
  await half;
  await server.pause();
  await page.getByText('The import continues when the store responds').waitFor();
  await server.resume();
  await page.getByText('Imported plants.csv').waitFor();
  const store = createPlantStoreClient({ url: server.url, token });
  expect(await store.countPlants.query({})).toMatchObject({ count: 20_000 });
});

it('an import stops when the user clicks Stop, and says how many plants were not confirmed', async () => {
  const page = await openImport();
  const tag = freshTag();
  await choose(page, 'plants.csv', csvOf(5_000, tag));
  const released = Promise.withResolvers<void>();
  let sent = 0;
  await page.route('**/trpc/createPlants*', async (route) => {
    if (++sent > 1) await released.promise;
    await route.continue().catch(() => {});
  });
  await page.getByRole('button', { name: 'Import 5,000' }).click();
  await page.getByText('1,000 added').waitFor();
  await page.keyboard.press('Escape'); // Escape does not close the dialog.
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('4,000 plants were not confirmed').waitFor();
  released.resolve();
});

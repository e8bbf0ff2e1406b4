import { text } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { importFiles } from '../fixtures/drop-files.ts';
import { holdRequests, tableOf, tryToReload } from '../fixtures/open-page.ts';
import { client, freshTag, openPlants } from '../fixtures/shared-server.ts';

/** Replaces the file dialog, which a headless browser cannot show, by a file in the browser's storage. */
function chooseFile() {
  window.showSaveFilePicker = async ({ suggestedName }) => {
    const directory = await navigator.storage.getDirectory();
    const name = suggestedName.replace(/.*[.]/, 'plants.');
    await directory.removeEntry(name).catch(() => {}); // An earlier test may have left this file.
    return directory.getFileHandle(name, { create: true });
  };
}

const chosenFile = (page: Page, name: string) =>
  page.evaluate(async (name) => {
    const directory = await navigator.storage.getDirectory();
    return (await (await directory.getFileHandle(name)).getFile()).text();
  }, name);

async function openExport(count: number, tag = freshTag()) {
  const opened = await openPlants(count, { tag });
  await opened.page.evaluate(chooseFile);
  await opened.page.getByRole('button', { name: 'Export' }).click();
  return opened;
}
const save = (page: Page, format: string) =>
  page.getByRole('button', { name: `Save as ${format}`, exact: true }).click();

/** Matches the `listPlants` requests for the second and all further pages. */
const laterPages = '**/trpc/listPlants*after*';

it('writes exactly the plants that match the filter to the file that the user chooses', async () => {
  const { ids, tag, page } = await openExport(1_500, `a, "${freshTag()}"`);
  const { createdAt } = await client.getPlant.query({ id: ids[0] ?? 0n });
  await save(page, 'CSV');
  await page.getByText('Saved 1,500 plants').waitFor();
  const csv = (await chosenFile(page, 'plants.csv')).trimEnd().split('\n');
  expect(csv).toHaveLength(1_501);
  const quoted = `"${tag.replaceAll('"', '""')}"`;
  expect(csv[1]).toBe(`${ids[0]},Plant ${ids[0]},${quoted},${createdAt.toISOString()}`);
  await save(page, 'NDJSON');
  await page.getByText('Saved 1,500 plants').waitFor();
  const lines = (await chosenFile(page, 'plants.ndjson')).trimEnd().split('\n');
  expect(lines.map((line) => BigInt(/"id":(\d+)/.exec(line)?.[1] ?? 0))).toEqual(ids);
});

it('writes CSV for spreadsheets, from which an import reads exactly the same plants', async () => {
  const names = ['=1+1', "'quoted'", 'Grün'];
  const { ids, page } = await openPlants(names);
  await page.evaluate(chooseFile);
  await page.getByRole('button', { name: 'Export' }).click();
  await save(page, 'CSV for spreadsheets');
  await page.getByText('Saved 3 plants').waitFor();
  const bytes = await page.evaluate(async () => {
    const directory = await navigator.storage.getDirectory();
    const file = await (await directory.getFileHandle('plants.csv')).getFile();
    return [...new Uint8Array(await file.arrayBuffer())];
  });
  const text = Buffer.from(bytes).toString();
  expect(text.split('\n')[0]).toBe("\ufeff'id,name,tag,created_at");
  expect(text.split('\n')[1]).toContain(`'${ids[0]},'=1+1,`);
  await page.keyboard.press('Escape');
  await importFiles(page, { 'plants.csv': text });
  await page.getByText('0 added, 3 already there', { exact: true }).first().waitFor();
});

it('downloads the file when the browser has no dialog to choose a file', async () => {
  const { ids, page } = await openExport(1_100);
  await page.evaluate(() => Reflect.deleteProperty(window, 'showSaveFilePicker'));
  const download = page.waitForEvent('download');
  await save(page, 'CSV');
  const file = await download;
  expect(file.suggestedFilename()).toMatch(/^plants tag \d+ \d{4}-\d\d-\d\d\.csv$/);
  const lines = (await text(await file.createReadStream())).trimEnd().split('\n');
  expect(lines.slice(1).map((line) => BigInt(line.split(',')[0] ?? 0))).toEqual(ids);
});

it('continues an export while the user works, and asks before the user leaves the page', async () => {
  const { tag, page } = await openExport(1_100);
  const { release } = await holdRequests(page, laterPages);
  await save(page, 'CSV');
  await page.getByText('Saving: 1,000 plants').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Exporting: 1,000 plants' }).waitFor();
  await page.getByRole('button', { name: `Remove the filter by the tag ${tag}` }).click();
  await tableOf(page).locator('.plant-name').first().waitFor();

  await tryToReload(page);
  await page.getByRole('button', { name: 'Forget token' }).click();
  await page.getByText('The export stops, and no file is saved').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();

  release();
  await page.getByRole('button', { name: 'Exported' }).click();
  await page.getByText('Saved 1,100 plants').waitFor();
  expect((await chosenFile(page, 'plants.csv')).trimEnd().split('\n')).toHaveLength(1_101);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Exported' }).waitFor({ state: 'detached' });
});

it('saves nothing when the user cancels the export or the file dialog', async () => {
  const { page } = await openExport(1_100);
  const { release } = await holdRequests(page, laterPages);
  await save(page, 'CSV');
  await page.getByText('Saving: 1,000 plants').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('Cancelled. No file is saved.').waitFor();
  release();
  expect(await chosenFile(page, 'plants.csv')).toBe('');

  await page.evaluate(() => {
    window.showSaveFilePicker = () => Promise.reject(new DOMException('', 'AbortError'));
  });
  await save(page, 'NDJSON');
  await page.getByText('Cancelled. No file is saved.').waitFor();
});

it('says why the file cannot be saved', async () => {
  const { page } = await openExport(1_100);
  await page.route(laterPages, (route) => route.abort());
  await save(page, 'CSV');
  await page.getByRole('alert').getByText('The file is not saved').waitFor();
  expect(await chosenFile(page, 'plants.csv')).toBe('');
});

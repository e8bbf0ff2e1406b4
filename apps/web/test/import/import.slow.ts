import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { formatJson } from '@plant-store/schemas';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { dropFiles, importFiles, importOf } from '../fixtures/drop-files.ts';
import {
  filterByTag,
  holdRequests,
  openPage,
  tableOf,
  tryToReload,
} from '../fixtures/open-page.ts';
import { address, client, freshId, freshTag, token } from '../fixtures/shared-server.ts';

const creates = '**/trpc/createPlants*';

const withTag = async (tag: string) => (await client.listPlants.query({ tag, limit: 1000 })).plants;

/** Clicks a button that saves a file, and returns the name and the content of the file. */
async function saved(page: Page, button: string) {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: button }).click(),
  ]);
  return {
    name: download.suggestedFilename(),
    text: (await buffer(await download.createReadStream())).toString(),
  };
}

const manyRows = (tag: string) =>
  Array.from({ length: 9_000 }, () => formatJson({ id: freshId(), name: 'x', tag })).join('\n');

it('adds the plants of an NDJSON file that is dropped on the page', async () => {
  const tag = freshTag();
  const ids = [...Array.from({ length: 300 }, freshId), 2n ** 63n - 2n];
  const lines = ids.map((id) => formatJson({ id, name: `Plant ${id}`, tag }));
  const page = await openPage(address());
  await importFiles(page, { 'plants.ndjson': lines.join('\n') });
  const result = importOf(page, 'plants.ndjson');
  await result.getByText('301 added', { exact: true }).waitFor();
  await result.getByText('Details').click();
  await result.getByText('301 added, 0 already there, 0 with a taken id, 0 rejected').waitFor();
  await result.getByText('Finished plants.ndjson').waitFor();
  await result.getByText('301 lines: 301 rows').waitFor();
  await result.getByText('100%').waitFor();
  expect((await withTag(tag)).map(({ id }) => id)).toEqual(ids);
});

it('adds the plants of a chosen CSV file with quotes and empty fields', async () => {
  const [tag, id, other] = [freshTag(), freshId(), freshId()];
  const text = `id,name,tag\r\n${id},"A ""quoted"" name,\r\nof two lines",${tag}\r\n${other},x,""\r\n`;
  const page = await openPage(address());
  await page.getByRole('button', { name: 'Add files' }).click();
  await page
    .getByLabel('Files with plants')
    .setInputFiles({ name: 'plants.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
  await page.getByRole('button', { name: 'Add the plants' }).click();
  await page.getByText('2 added').first().waitFor();
  await page.getByText('Details').click();
  await page.getByText('4 lines: 2 rows, 1 header, 1 inside quoted fields').waitFor();
  expect(await withTag(tag)).toMatchObject([{ id, name: 'A "quoted" name,\r\nof two lines' }]);
  expect(await client.getPlant.query({ id: other })).toMatchObject({ name: 'x', tag: '' });
  // The list of requests must not contain the plants of a whole file, because the list stays in memory.
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Requests' }).click();
  const requests = page.locator('summary strong');
  await requests.first().waitFor();
  expect(await requests.allTextContents()).not.toContain('createPlants');
});

it('lets the user choose the columns when the header of a file has other names, and adds the plants', async () => {
  const [tag, id] = [freshTag(), freshId()];
  const page = await openPage(address());
  await dropFiles(page, { 'plants.csv': `Nr;Pflanze;Familie\n${id};Hoya;${tag}\n` });
  await page.getByRole('alert').getByText('but it has "Nr", "Pflanze", "Familie"').waitFor();
  for (const [name, column] of Object.entries({ id: 'Nr', name: 'Pflanze', tag: 'Familie' })) {
    await page.getByRole('combobox', { name }).selectOption(column);
  }
  await page.getByRole('button', { name: 'Add the plants' }).click();
  await page.getByText('1 added').first().waitFor();
  expect(await page.getByRole('alert').count()).toBe(0);
  expect(await withTag(tag)).toMatchObject([{ id, name: 'Hoya' }]);
});

it('shows a preview of a file, and adds no plants before the user confirms', async () => {
  const [tag, id] = [freshTag(), freshId()];
  const text = `ID;Name;Tag;Height;created_at\n${id};Aeschynanthus;${tag};3;2020-01-01\nx;y;;;\n`;
  const page = await openPage(address());
  await dropFiles(page, { 'plants.csv': text });
  const preview = page.getByRole('region', { name: 'Preview of plants.csv' });
  await preview.getByText('CSV with the columns id, name, tag, created_at').waitFor();
  expect(await preview.getByRole('row').allTextContents()).toEqual([
    'Lineidnametag',
    `2${id}Aeschynanthus${tag}`,
    '3Rejected: id "x" must be a whole number',
  ]);
  await preview.getByText('These columns are not used: "Height"').waitFor();
  await preview.getByText('The times of the column created_at are not kept').waitFor();
  await preview.getByText('plant-store import "plants.csv"').waitFor();
  expect(await withTag(tag)).toEqual([]);
  await page.setViewportSize({ width: 360, height: 740 });
  for (const word of [String(id), 'Aeschynanthus']) {
    const cell = preview.getByRole('cell', { name: word, exact: true });
    const lineHeight = await cell.evaluate((cell) => {
      const range = document.createRange();
      range.selectNodeContents(cell);
      return range.getBoundingClientRect().height;
    });
    expect(lineHeight, `${word} is in one line`).toBeLessThan(25);
  }
  await page.getByRole('button', { name: 'Remove plants.csv' }).click();
  await preview.waitFor({ state: 'detached' });
  expect(await page.getByRole('button', { name: /^Add the plants/ }).count()).toBe(0);
});

it('saves a sample file that an import accepts', async () => {
  const page = await openPage(address());
  await page.getByRole('button', { name: 'Add files' }).click();
  const { name, text } = await saved(page, 'Save a sample file');
  await importFiles(page, { [name]: text });
  await importOf(page, 'plants.csv').getByText('Details').click();
  await importOf(page, 'plants.csv').getByText('3 lines: 2 rows, 1 header').waitFor();
});

it('adds the plants of several files, and then of files that the user drops during the import', async () => {
  const tag = freshTag();
  const row = (name: string) => formatJson({ id: freshId(), name, tag });
  const page = await openPage(address());
  const { release } = await holdRequests(page, creates);
  await importFiles(page, {
    'a.ndjson': row('First'),
    'b.csv': `id,name,tag\n${freshId()},Second,${tag}`,
  });
  await page.getByText('Adding the plants of a.ndjson').waitFor();
  await page.getByText('Next: b.csv').waitFor();
  await page.keyboard.press('Escape');
  await importFiles(page, { 'c.ndjson': row('Third') });
  release();
  for (const name of ['a.ndjson', 'b.csv', 'c.ndjson']) {
    await page.getByText(`Finished ${name}`).waitFor();
  }
  const names = (await withTag(tag)).map(({ name }) => name);
  expect(names.toSorted()).toEqual(['First', 'Second', 'Third']);
});

it('shows how many rows are added, already there or rejected, and saves the rejected rows', async () => {
  const [tag, taken, there, id] = [freshTag(), freshId(), freshId(), freshId()];
  await client.createPlant.mutate({ id: taken, name: 'The owner of the id' });
  await client.createPlant.mutate({ id: there, name: 'Here', tag });
  const text = `id,name,tag\n${id},Good,${tag}\n1.5,A fraction,\n${taken},Too late,\n${there},Here,${tag}\n`;
  const page = await openPage(address());
  await importFiles(page, { 'plants.csv': text });
  const result = importOf(page, 'plants.csv');
  await result.getByText('1 added, 1 already there, 2 need attention').waitFor();
  await result.getByRole('progressbar').and(page.locator('[data-state=attention]')).waitFor();
  await result.getByText('Details').click();
  await result.getByText('1 added, 1 already there, 1 with a taken id, 1 rejected').waitFor();
  await result.getByText('5 lines: 4 rows, 1 header').waitFor();
  const reasons = [
    'invalid input: id "1.5" must be a whole number',
    `id ${taken} belongs to another plant: choose an id that is free`,
  ];
  const rows = result.getByRole('region', { name: 'Rejected rows' }).getByRole('row');
  expect(await rows.allTextContents()).toEqual([
    'LineReason',
    '3id "1.5" must be a whole number',
    `4${reasons[1]}`,
  ]);

  const rejects = await saved(page, 'Save the rejected rows');
  expect(rejects.name).toBe('plants.rejects.csv');
  // The byte order mark tells spreadsheet programs that the file is UTF-8.
  expect(rejects.text).toBe(
    `\ufeffline,reason,id,name,tag\n3,"${reasons[0]?.replaceAll('"', '""')}",1.5,A fraction,\n4,"${reasons[1]}",${taken},Too late,\n`,
  );
  const corrected = rejects.text
    .replace(',1.5,', `,${freshId()},`)
    .replace(`,${taken},`, `,${freshId()},`);
  await importFiles(page, { 'plants.rejects.csv': corrected });
  await importOf(page, 'plants.rejects.csv').getByText('2 added', { exact: true }).waitFor();
  await importFiles(page, { 'again.csv': text });
  await importOf(page, 'again.csv')
    .getByText('0 added, 2 already there, 2 need attention')
    .waitFor();
  await page.keyboard.press('Escape');
  const chip = page.getByRole('button', { name: '3 added, 3 already there, 4 need attention' });
  await chip.and(page.locator('[data-warning]')).waitFor();
});

it('shows the first hundred rejected rows, and saves all rejected rows', async () => {
  const page = await openPage(address());
  const rows = Array.from({ length: 5_000 }, (_, i) => `x${i},Hoya`);
  await importFiles(page, { 'plants.csv': `id,name\n${rows.join('\n')}\n` });
  const result = importOf(page, 'plants.csv');
  await result.getByText('0 added, 5,000 need attention').waitFor();
  await result.getByText('Details').click();
  await result.getByText('Rows that are not added, the first 100').waitFor();
  expect(await result.getByRole('row').count()).toBe(101);
  const { text } = await saved(page, 'Save the rejected rows');
  expect(text.trimEnd().split('\n')).toHaveLength(5_001);
});

it('reads files with UTF-16, with semicolons, and with gzip compression', async () => {
  const tag = freshTag();
  const text = (name: string) => `\ufeffID;Name;Tag\r\n${freshId()};${name};${tag}\r\n`;
  const page = await openPage(address());
  await importFiles(page, {
    'utf-16.csv': Buffer.from(text('Grün 🪴'), 'utf16le'),
    'utf-8.csv.gz': gzipSync(text('Rosé')),
  });
  await page.getByText('Finished utf-16.csv').waitFor();
  await page.getByText('Finished utf-8.csv.gz').waitFor();
  const names = (await withTag(tag)).map(({ name }) => name);
  expect(names.toSorted()).toEqual(['Grün 🪴', 'Rosé']);
});

it('continues an import while the user works, and shows the progress in the header', async () => {
  const tag = freshTag();
  const page = await openPage(address());
  const { release } = await holdRequests(page, creates);
  await importFiles(page, { 'plants.ndjson': formatJson({ id: freshId(), name: 'x', tag }) });
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Add a plant' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('typed meanwhile');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Discard' }).click();
  const chip = page.getByRole('button', { name: /^Importing: \d+%$/ });
  await chip.waitFor();
  await filterByTag(page, tag);
  release();
  await page.getByRole('button', { name: /^[\d,]+ added$/ }).click();
  await page.getByText('Finished plants.ndjson').waitFor();
  await page.keyboard.press('Escape');
  await expect.poll(() => tableOf(page).locator('.plant-name').count()).toBe(1);
});

it('asks before the user leaves the page or forgets the token during an import', async () => {
  const tag = freshTag();
  const page = await openPage(address());
  const { release } = await holdRequests(page, creates);
  await importFiles(page, { 'plants.ndjson': manyRows(tag) });
  await page.getByText('Adding the plants of plants.ndjson').waitFor();

  await tryToReload(page);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Forget token' }).click();
  const question = page.getByRole('alertdialog');
  await question.getByText('the import of plants.ndjson stops').waitFor();
  await question.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Forget token' }).click();
  await question.getByRole('button', { name: 'Stop and forget the token' }).click();
  await page.getByLabel('Access token').waitFor();
  release();
  await page.evaluate(() => location.reload());
  await page.getByLabel('Access token').waitFor();
  expect((await withTag(tag)).length).toBeLessThanOrEqual(1_000);
});

it('waits for another token when the store rejects the current token', async () => {
  const tag = freshTag();
  const page = await openPage(address());
  const { release } = await holdRequests(page, creates);
  await importFiles(page, { 'plants.ndjson': manyRows(tag) });
  await page.getByText('Adding the plants of plants.ndjson').waitFor();
  await page.evaluate(() => {
    location.hash = '#token=unknown-token';
  });
  await page.getByText('The import of plants.ndjson goes on when you enter a token').waitFor();
  release();
  await page.getByLabel('Access token').fill(token);
  await page.getByRole('button', { name: 'Open' }).click();
  await page.getByRole('button', { name: /^[\d,]+ added$/ }).click();
  await importOf(page, 'plants.ndjson').getByText('9,000 added', { exact: true }).waitFor();
});

it('stops when the user cancels the import, and says how many plants were added', async () => {
  const page = await openPage(address());
  const held = await holdRequests(page, creates, 1);
  await importFiles(page, { 'plants.ndjson': manyRows(freshTag()) });
  await expect.poll(() => held.sent).toBe(5);
  await page.getByRole('button', { name: 'Cancel' }).click();
  held.release();
  await page.getByText('Cancelled plants.ndjson').waitFor();
  await importOf(page, 'plants.ndjson').getByText('5,000 added', { exact: true }).waitFor();
  expect(held.sent).toBe(5);
});

it('says why the import cannot read a file', async () => {
  const page = await openPage(address());
  await dropFiles(page, { 'plants.xlsx': 'PK' });
  const reason = /^plants.xlsx is a spreadsheet: save it as CSV/;
  await page.getByRole('alert').getByText(reason).waitFor();
});

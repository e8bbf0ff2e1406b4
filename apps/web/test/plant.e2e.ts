import { text } from 'node:stream/consumers';
import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { dialogOf, namesOf, openPage, rowOf } from './fixtures/open-page.ts';
import { address, client, freshId, numbered, openPlants, url } from './fixtures/shared-server.ts';

async function openForm(): Promise<Page> {
  const page = await openPage(address());
  await page
    .getByRole('button', { name: /^Add( a plant)?$/ })
    .first()
    .click();
  await dialogOf(page, 'Add a plant').waitFor();
  return page;
}

async function add(page: Page, name: string, id: bigint | string): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByRole('textbox', { name: 'Number' }).fill(String(id));
  await page.getByRole('button', { name: 'Add plant' }).click();
}

it.each([-(2n ** 63n), 2n ** 63n - 1n, 2n ** 53n + 1n])(
  'the console adds, opens and deletes the plant with exactly the number %s',
  async (id) => {
    const page = await openForm();
    await add(page, 'Exact', id);
    await page.getByText('Added “Exact”').waitFor();
    expect(await client.getPlant.query({ id })).toMatchObject({ id, name: 'Exact' });
    await rowOf(page, 'Exact').getByRole('link').first().click();
    const plant = dialogOf(page, 'Exact');
    await plant.getByText(String(id)).waitFor();
    await plant.getByRole('button', { name: 'Delete' }).click();
    await page
      .getByRole('alertdialog', { name: 'Delete 1 plant?' })
      .getByRole('button', { name: 'Delete' })
      .click();
    await page.getByText('Deleted 1 plant').waitFor();
    await plant.waitFor({ state: 'detached' });
    await expect(client.getPlant.query({ id })).rejects.toThrow('no plant has the id');
  },
);

it('the form suggests a number, and explains why a number or a name is invalid', async () => {
  const page = await openForm();
  const number = page.getByRole('textbox', { name: 'Number' });
  expect(await number.inputValue()).toMatch(/^\d+$/);
  const messageOf = (field: Locator) =>
    field.evaluate((field: HTMLInputElement) => field.validationMessage);
  await page.getByRole('button', { name: 'Add plant' }).click();
  expect(await messageOf(page.getByLabel('Name'))).not.toBe('');
  for (const text of ['1.5', '007', 'seven', '', String(2n ** 63n)]) {
    await add(page, 'Fern', text);
    expect(await messageOf(number)).toContain('The number must be');
  }
  await add(page, 'U+0000 is \u0000', freshId());
  await page.getByText('must not contain U+0000').waitFor();
});

it('the form shows the plant that has the taken number', async () => {
  const id = freshId();
  await client.createPlant.mutate({ id, name: 'The owner of the number' });
  const page = await openForm();
  await add(page, 'Too late', id);
  const alert = page.getByRole('alert', { name: 'The number is taken' });
  await alert.getByText('The owner of the number').waitFor();
  await add(page, 'Too late', freshId());
  await page.getByText('Added “Too late”').waitFor();
});

it('the console duplicates a plant, and copies its link and its curl command', async () => {
  const { page, ids, tag } = await openPlants(['Hoya']);
  const [id = 0n] = ids;
  await rowOf(page, 'Hoya').getByRole('link').first().click();
  await page.getByRole('button', { name: 'Copy link' }).click();
  await page.getByText('Copied').waitFor();
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  expect(await copied()).toBe(`${url}/#plant=${id}`);
  await page.getByRole('button', { name: 'Copy as curl' }).click();
  await expect.poll(copied).toContain(`curl '${url}/plants/${id}'`);
  await page.getByRole('button', { name: 'Duplicate' }).click();
  expect(await page.getByLabel('Name').inputValue()).toBe('Hoya');
  await page.getByRole('button', { name: 'Add plant' }).click();
  await page.getByText('Added “Hoya”').waitFor();
  expect((await client.listPlants.query({ tag })).plants.length).toBe(2);
});

it('the form asks once before it discards a typed text', async () => {
  const page = await openForm();
  const form = dialogOf(page, 'Add a plant');
  await page.keyboard.press('Escape');
  await form.waitFor({ state: 'detached' });
  await page
    .getByRole('button', { name: /^Add( a plant)?$/ })
    .first()
    .click();
  await page.getByLabel('Name').fill('Half a na');
  const questions: string[] = [];
  page.once('dialog', async (question) => {
    questions.push(question.message());
    await question.dismiss();
  });
  await page.keyboard.press('Escape');
  await expect.poll(() => questions.length).toBe(1);
  expect(questions[0]).toContain('Close without adding the plant?');
  expect(await page.getByLabel('Name').inputValue()).toBe('Half a na');
  page.once('dialog', (question) => question.accept());
  await page.getByRole('button', { name: 'Cancel' }).click();
  await form.waitFor({ state: 'detached' });
});

it('a correction of a name keeps the number and the tag', async () => {
  const { page, ids, tag } = await openPlants(['Hoia']);
  const [id = 0n] = ids;
  await rowOf(page, 'Hoia').getByRole('link').first().click();
  await page.getByRole('button', { name: 'Correct' }).click();
  await page.getByLabel('Name').fill('Hoya');
  await page.keyboard.press('Enter');
  await page.getByText('Corrected the plant').waitFor();
  await dialogOf(page, 'Hoya').getByText('Corrected').waitFor();
  await rowOf(page, 'Hoya').waitFor();
  expect(await client.getPlant.query({ id })).toMatchObject({ name: 'Hoya', tag });
});

it('the list shows the new name of a plant that the user has just added and then corrected', async () => {
  const page = await openForm();
  await add(page, 'Typpo', freshId());
  await rowOf(page, 'Typpo').getByRole('link').first().click();
  await page.getByRole('button', { name: 'Correct' }).click();
  await page.getByLabel('Name').fill('Typo');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Corrected the plant').waitFor();
  expect((await namesOf(page))[0]).toBe('Typo');
});

it('the form shows both versions when somebody else was faster, and can save the version of the user', async () => {
  const { page, ids } = await openPlants(['Hoia']);
  const [id = 0n] = ids;
  await rowOf(page, 'Hoia').getByRole('link').first().click();
  await page.getByRole('button', { name: 'Correct' }).click();
  await page.getByLabel('Name').fill('Mine');
  await client.replacePlant.mutate({ id, name: 'Theirs', tag: 'Their tag' });
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const conflict = page.getByRole('alert', { name: 'Somebody else was faster' });
  await conflict.getByText('Theirs: Theirs, tag Their tag').waitFor();
  await conflict.getByText('Yours: Mine').waitFor();
  expect((await client.getPlant.query({ id })).name).toBe('Theirs');
  await conflict.getByRole('button', { name: 'Save mine' }).click();
  await page.getByText('Corrected the plant').waitFor();
  expect((await client.getPlant.query({ id })).name).toBe('Mine');
});

it('the console asks again before it deletes a plant that somebody else has corrected', async () => {
  const { page, ids } = await openPlants(['Old name']);
  const [id = 0n] = ids;
  await rowOf(page, 'Old name').getByRole('link').first().click();
  await page.getByRole('button', { name: 'Delete' }).click();
  const question = page.getByRole('alertdialog', { name: 'Delete 1 plant?' });
  await client.replacePlant.mutate({ id, name: 'New name' });
  await question.getByRole('button', { name: 'Delete 1 plant' }).click();
  await question.getByText('Somebody else has corrected this plant').waitFor();
  await question.getByText('New name').waitFor();
  expect((await client.getPlant.query({ id })).name).toBe('New name');
  await question.getByRole('button', { name: 'Delete it anyway' }).click();
  await page.getByText('Deleted 1 plant').waitFor();
  await expect(client.getPlant.query({ id })).rejects.toThrow('no plant has the id');
});

it('the console says that the open plant was deleted, and that the plant of a link does not exist', async () => {
  const { page, ids } = await openPlants(['Hoya']);
  const [id = 0n] = ids;
  await rowOf(page, 'Hoya').getByRole('link').first().click();
  await page.getByRole('button', { name: 'Copy link' }).waitFor();
  await client.deletePlant.mutate({ id });
  await page.getByText('This plant was deleted.').waitFor({ timeout: 10_000 });
  const other = await openPage(`${address()}&plant=${id}`);
  await other.getByText(`No plant has the number ${id}.`).waitFor();
});

it('the console deletes the checked plants after one question, which offers to save a copy', async () => {
  const { page, tag } = await openPlants(numbered(60));
  await page.getByRole('checkbox', { name: 'Select all' }).check();
  for (const name of numbered(10)) await rowOf(page, name).getByRole('checkbox').uncheck();
  await page.getByRole('button', { name: 'Delete' }).click();
  const question = page.getByRole('alertdialog', { name: 'Delete 50 plants?' });
  await question.getByText('This cannot be undone.').waitFor();
  await question.getByText('Plant 015').waitFor();
  await question.getByText('and 45 more').waitFor();
  const download = page.waitForEvent('download');
  await question.getByRole('button', { name: 'Save a copy' }).click();
  const lines = (await text(await (await download).createReadStream())).trim().split('\n');
  expect(lines.length).toBe(51);
  await question.getByRole('button', { name: 'Delete 50 plants' }).click();
  await page.getByText('Deleted 50 plants').waitFor();
  await expect.poll(() => namesOf(page)).toEqual(numbered(10));
  expect((await client.listPlants.query({ tag })).plants.length).toBe(10);
});

it('the console shows only one button Delete when a plant is open and rows are checked', async () => {
  const { page } = await openPlants(['Open', 'Checked']);
  await rowOf(page, 'Open').getByRole('link').first().click();
  await page.getByRole('button', { name: 'Delete' }).waitFor();
  await rowOf(page, 'Checked').getByRole('checkbox').check();
  expect(await page.getByRole('button', { name: 'Delete' }).count()).toBe(1);
});

it('an export saves the plants on all pages of the list', async () => {
  const { page } = await openPlants(numbered(150));
  await page.getByRole('button', { name: 'Export' }).click();
  const download = page.waitForEvent('download');
  await dialogOf(page, 'Export').getByRole('button', { name: 'CSV' }).click();
  const saved = await download;
  expect(saved.suggestedFilename()).toMatch(/^plants [\d-]+\.csv$/);
  const lines = (await text(await saved.createReadStream())).trim().split('\n');
  expect(lines.length).toBe(151);
  await page.getByText('Saved 150 plants').waitFor();
});

import type { Page } from 'playwright-core';
import { expect, inject, it, onTestFinished } from 'vitest';
import { startServer, token } from './fixtures/global-setup.ts';
import {
  dialogOf,
  lineOf,
  namesOf,
  openPage,
  rowOf,
  searchField,
  tableOf,
} from './fixtures/open-page.ts';
import {
  address,
  client,
  createPlants,
  freshId,
  freshTag,
  numbered,
  openPlants,
} from './fixtures/shared-server.ts';

const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true });

/** Returns a function that counts the requests for a list since this call. */
function countLists(page: Page): () => number {
  let count = 0;
  page.on('request', (request) => {
    if (request.url().includes('listPlants')) count++;
  });
  return () => count;
}

it('the list shows pages of 100 plants, with links to the next and the previous page', async () => {
  const { page, tag } = await openPlants(numbered(250));
  await lineOf(page, '250 plants').waitFor();
  expect(await namesOf(page)).toEqual(numbered(100));
  expect(await link(page, 'Previous').count()).toBe(0);
  await link(page, 'Next').click();
  await rowOf(page, 'Plant 101').waitFor();
  await link(page, 'Next').click();
  await rowOf(page, 'Plant 250').waitFor();
  expect(await link(page, 'Next').count()).toBe(0);
  await link(page, 'Previous').click();
  await rowOf(page, 'Plant 101').waitFor();
  expect((await namesOf(page)).length).toBe(100);

  const copied = await openPage(`${address()}&${new URL(page.url()).hash.slice(1)}`);
  await rowOf(copied, 'Plant 101').waitFor();
  await link(copied, 'First').click();
  await rowOf(copied, 'Plant 001').waitFor();
  expect(new URLSearchParams(new URL(copied.url()).hash.slice(1)).get('tag')).toBe(tag);
});

it('the list keeps the rows of a page while the next page loads', async () => {
  const { page } = await openPlants(numbered(101));
  await rowOf(page, 'Plant 001').waitFor();
  const released = Promise.withResolvers<void>();
  await page.route('**/trpc/*listPlants*', async (route) => {
    await released.promise;
    await route.continue().catch(() => {});
  });
  await link(page, 'Next').click();
  await expect.poll(() => tableOf(page).getAttribute('aria-busy')).toBe('true');
  expect((await namesOf(page)).length).toBe(100);
  released.resolve();
  await expect.poll(() => namesOf(page)).toEqual(['Plant 101']);
});

it('the list shows within four seconds that another client has added or deleted a plant', async () => {
  const { page, tag, ids } = await openPlants(['Old']);
  await rowOf(page, 'Old').waitFor();
  const [id = 0n] = ids;
  await createPlants(['New'], tag);
  await rowOf(page, 'New').waitFor({ timeout: 4_000 });
  expect(await rowOf(page, 'New').evaluate((row) => row.getAnimations().length)).toBe(1);
  await client.deletePlant.mutate({ id });
  await rowOf(page, 'Old').waitFor({ state: 'detached', timeout: 4_000 });
  await lineOf(page, '1 plant').waitFor();
});

it.each([
  ['a plant is open', (page: Page) => rowOf(page, 'Row').getByRole('link').first().click()],
  ['rows are checked', (page: Page) => rowOf(page, 'Row').getByRole('checkbox').check()],
  [
    'the tab is hidden',
    (page: Page) =>
      page.evaluate(() => {
        Object.defineProperty(document, 'visibilityState', { value: 'hidden' });
        document.dispatchEvent(new Event('visibilitychange'));
      }),
  ],
  ['a search is shown', (page: Page) => searchField(page).fill('ro')],
])('the list does not load its rows again while %s', async (_case, act) => {
  const { page } = await openPlants(['Row']);
  await rowOf(page, 'Row').waitFor();
  await act(page);
  await page.waitForTimeout(1_000); // Running requests end in this time.
  const lists = countLists(page);
  await page.waitForTimeout(4_000);
  expect(lists()).toBe(0);
});

it('the list shows the new plants of the user first until the filter changes', async () => {
  const { page, tag } = await openPlants(['Abc']);
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByLabel('Name').fill('Zzz');
  await page.getByLabel('Tag', { exact: true }).fill(tag);
  await page.getByRole('button', { name: 'Add plant' }).click();
  await page.getByRole('status').getByText('Added “Zzz”').waitFor();
  await page.getByRole('rowheader', { name: 'Just added' }).waitFor();
  await expect.poll(() => namesOf(page)).toEqual(['Zzz', 'Abc']);
  await searchField(page).fill('z');
  await lineOf(page, '1 found').waitFor();
  expect(await page.getByText('Just added').count()).toBe(0);
});

it('the console says that the connection is lost, and continues when the server responds again', async () => {
  const server = await startServer(inject('postgresUrl'));
  onTestFinished(server.stop);
  const page = await openPage(`${server.url}/#token=${token}`);
  await page.getByRole('heading', { name: 'No plants yet' }).waitFor();
  const form = page.getByRole('form', { name: 'Add plant' });
  await page.getByRole('button', { name: 'Add a plant' }).click();
  await form.getByLabel('Name').fill('In mid-form');
  await server.pause();
  await form.getByRole('button', { name: 'Add plant' }).click();
  await form.getByRole('alert').getByText('does not respond').waitFor();
  await page.getByText('Connection lost. Loaded at').waitFor({ state: 'attached' });
  await server.resume();
  await form.getByRole('button', { name: 'Add plant' }).click();
  await rowOf(page, 'In mid-form').waitFor();
  await page.getByText('Connection lost').waitFor({ state: 'detached' });
});

it('the table does not move when a selection replaces the number of plants', async () => {
  const { page } = await openPlants(numbered(3));
  await lineOf(page, '3 plants').waitFor();
  const before = await tableOf(page).boundingBox();
  await page.getByRole('checkbox', { name: 'Select all' }).check();
  await page.getByRole('region', { name: 'Selected plants' }).getByText('3 selected').waitFor();
  expect(await tableOf(page).boundingBox()).toEqual(before);
  await page.getByRole('button', { name: 'Clear' }).click();
  await lineOf(page, '3 plants').waitFor();
});

it('the list shows names that are long, right-to-left or invisible, or have line breaks', async () => {
  const long = 'x'.repeat(900_000);
  const names = ['\u202eevil', '\u200b', 'two\nlines', ' ', 'שקמה', '<b>bold</b>'];
  const { page, tag, ids } = await openPlants(names);
  const texts = ['[U+202E]evil', 'only invisible characters', 'two ↵ lines', 'only spaces'];
  await expect.poll(() => namesOf(page)).toEqual([...texts, 'שקמה', '<b>bold</b>']);
  expect(await rowOf(page, 'שקמה').locator('bdi').count()).toBeGreaterThan(0);
  await client.createPlant.mutate({ id: freshId(), name: long, tag });
  await rowOf(page, '900000 characters').getByRole('link').first().click();
  await page.getByRole('button', { name: 'Copy the whole name' }).click();
  await page.getByText('Copied').waitFor();
  expect(await page.evaluate(async () => (await navigator.clipboard.readText()).length)).toBe(
    900_000,
  );
  expect(ids.length).toBe(names.length);
});

it('an empty list offers an import of 208 houseplants', async () => {
  const server = await startServer(inject('postgresUrl'));
  onTestFinished(server.stop);
  const page = await openPage(`${server.url}/#token=${token}`);
  await page.getByRole('button', { name: '208 houseplants' }).click();
  await page.getByText('208 ready').waitFor();
  await page.getByRole('button', { name: 'Import 208' }).click();
  await page.getByText('208 added').waitFor();
  await page.getByRole('button', { name: 'Close' }).last().click();
  await lineOf(page, '208 plants').waitFor();
});

it('the search finds plants by a part of the name, by number and by tag', async () => {
  const { page, tag, ids } = await openPlants(['Gold Rush', 'Rushes', 'Fern']);
  const [first = 0n, second = 0n] = ids;
  await rowOf(page, 'Fern').waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('RUSH');
  await lineOf(page, '2 found').waitFor();
  await page.keyboard.press('Escape');
  await rowOf(page, 'Fern').waitFor();

  await searchField(page).fill(String(second));
  await expect.poll(() => namesOf(page)).toEqual(['Rushes']);
  await searchField(page).fill(String(first));
  await page.keyboard.press('Enter');
  await dialogOf(page, 'Gold Rush').waitFor();
  await page.keyboard.press('Escape');

  await page.goto(address());
  await searchField(page).fill(tag);
  await page.getByRole('link', { name: `Plants with the tag ${tag}` }).click();
  await expect.poll(async () => (await namesOf(page)).length).toBe(3);
  await page.getByRole('link', { name: 'Show plants with any tag' }).click();
  await expect.poll(() => new URL(page.url()).hash).not.toContain('tag');
});

it('a search without a result shows the text of the search', async () => {
  const { page } = await openPlants(['Fern']);
  const text = `x${freshTag()}`;
  await searchField(page).fill(text);
  await page.getByRole('heading', { name: `No plant matches ‘${text}’` }).waitFor();
  await page.getByRole('link', { name: 'Clear search' }).click();
  await rowOf(page, 'Fern').waitFor();
  expect(await searchField(page).inputValue()).toBe('');
  await page.goBack();
  await page.getByRole('heading', { name: 'No plant matches' }).waitFor();
  expect(await searchField(page).inputValue()).toBe(text);
});

it('the list says that there are no further plants when its page is after the last plant', async () => {
  const page = await openPage(`${address()}&after=${2n ** 63n - 1n}`);
  await page.getByRole('heading', { name: 'There are no further plants' }).waitFor();
  await link(page, 'First').click();
  await tableOf(page).or(page.getByText('No plants yet')).waitFor();
});

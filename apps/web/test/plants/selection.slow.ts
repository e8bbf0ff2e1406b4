import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { holdRequests, openPage, setVisibility, tableOf } from '../fixtures/open-page.ts';
import { client, freshId, freshTag, openPlants, token, url } from '../fixtures/shared-server.ts';

const check = (page: Page, id: bigint | undefined) =>
  tableOf(page).getByRole('checkbox', { name: `Select Plant ${id}` });

async function selectAll(page: Page, count: string): Promise<void> {
  await page.getByRole('button', { name: 'Select all' }).click();
  await page.getByText(`${count} plants selected`).waitFor();
}

/** Deletes the selected plants. `typed` is the number that the user types into the question. */
async function deleteSelected(page: Page, count: string, typed?: string): Promise<void> {
  await page.getByRole('button', { name: 'Delete …' }).click();
  const question = page.getByRole('alertdialog', { name: `Delete ${count} plants?` });
  if (typed) await question.getByLabel('Number of plants').fill(typed);
  await question.getByRole('button', { name: `Delete ${count} plants` }).click();
}

const deletes = '**/trpc/deletePlant**';
const listed = async (tag: string) =>
  (await client.listPlants.query({ tag })).plants.map(({ id }) => id);

it('shows the number of selected plants in a question, and then deletes the plants', async () => {
  const { ids, tag, page } = await openPlants(130);
  await check(page, ids[1]).click();
  await page.getByRole('button', { name: 'Delete …' }).click();
  const one = page.getByRole('alertdialog', { name: 'Delete 1 plant?' });
  await one.getByText('You can undo this for ten seconds').waitFor();
  await one.getByRole('button', { name: 'Cancel' }).click();
  await tableOf(page).evaluate((scroller) => scroller.scrollTo(0, scroller.scrollHeight));
  await check(page, ids[128]).click({ modifiers: ['Shift'] });
  await page.getByText('128 plants selected').waitFor();
  await deleteSelected(page, '128');
  await page.getByText('Deleted 128 plants').waitFor();
  expect(await listed(tag)).toEqual([ids[0], ids[129]]);
  await expect.poll(() => tableOf(page).locator('.plant-row').count()).toBe(2);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Added 128 plants again, with new times of creation').waitFor();
  expect(await client.countPlants.query({ tag })).toMatchObject({ count: 130 });
});

it('asks the user to type the number of plants before a large delete, and lets the user stop the delete', async () => {
  const { tag, page } = await openPlants(1_001);
  await selectAll(page, '1,001');
  const { release } = await holdRequests(page, deletes, 5);
  await page.getByRole('button', { name: 'Delete …' }).click();
  const question = page.getByRole('alertdialog', { name: 'Delete 1,001 plants?' });
  await question.getByLabel('Number of plants').fill('100');
  const confirm = question.getByRole('button', { name: 'Delete 1,001 plants' });
  expect(await confirm.isDisabled()).toBe(true);
  await question.getByRole('button', { name: 'Cancel' }).click();
  await deleteSelected(page, '1,001', '1,001');
  await page.getByText('Deleting: 951 plants left').waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  release();
  await page.getByText('901 plants selected').waitFor();
  expect(await client.countPlants.query({ tag })).toMatchObject({ count: 901 });
});

it('shows the progress of a delete after the list changes, and stops on request', async () => {
  const { tag, page } = await openPlants(120);
  await selectAll(page, '120');
  const { release } = await holdRequests(page, deletes, 5);
  await deleteSelected(page, '120');
  await page.getByText('Deleting: 70 plants left').waitFor();
  await page.getByRole('button', { name: 'Remove the filter' }).click();
  await tableOf(page).getByRole('checkbox').first().check();
  await page.getByText('Deleting: 70 plants left').waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  release();
  await page.getByText('Deleted 100 plants').waitFor();
  expect(await client.countPlants.query({ tag })).toMatchObject({ count: 20 });
});

it('deletes no further plants after the user has forgotten the token', async () => {
  const { tag, page } = await openPlants(120);
  await selectAll(page, '120');
  const held = await holdRequests(page, deletes);
  await deleteSelected(page, '120');
  await page.getByText('Deleting: 120 plants left').waitFor();
  await page.getByRole('button', { name: 'Forget token' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Forget token' }).click();
  await page.getByLabel('Access token').waitFor();
  held.release();
  await expect.poll(() => listed(tag).then(({ length }) => length)).toBe(70);
  await page.evaluate(() => new Promise((done) => requestIdleCallback(done)));
  expect(held.sent).toBe(5);
});

it('does not select a new plant that gets the id of a selected plant', async () => {
  const { ids, id, tag, page } = await openPlants(2);
  await check(page, ids[0]).click();
  await check(page, ids[1]).click();
  await page.getByText('2 plants selected').waitFor();
  // A hidden tab gets all changes at once when the user returns.
  await setVisibility(page, 'hidden');
  await client.deletePlant.mutate({ id });
  await client.createPlant.mutate({ id, name: 'Another plant', tag });
  await setVisibility(page, 'visible');
  await tableOf(page).getByText('Another plant').waitFor();
  await page.getByText('1 plant selected').waitFor();
});

it('says that an undo has added only a part of the plants', async () => {
  const { tag, page } = await openPlants(1_001);
  await selectAll(page, '1,001');
  await deleteSelected(page, '1,001', '1,001');
  let sent = 0;
  await page.route('**/trpc/createPlants*', (route) =>
    sent++ === 0 ? route.continue() : route.fulfill({ status: 403, json: insufficientScope }),
  );
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Not all plants are added again. The token needs').waitFor();
  expect(await client.countPlants.query({ tag })).toMatchObject({ count: 1_000 });
});

const insufficientScope = {
  error: {
    json: {
      message: 'the token needs the scope plants:create',
      code: -32003,
      data: { code: 'FORBIDDEN', httpStatus: 403, error: 40300 },
    },
  },
};

it('goes on selecting all plants when the user jumps to the end of the list', async () => {
  const { page } = await openPlants(2_001);
  const { release } = await holdRequests(page, '**/trpc/listPlants*1000*after*');
  await selectAll(page, '1,000');
  await page.getByRole('button', { name: 'Jump to the end' }).click();
  await page.getByText('– 2,001 of 2,001 plants').waitFor();
  release();
  await page.getByText('2,001 plants selected').waitFor();
  await page.getByRole('button', { name: 'Select all' }).waitFor();
});

it('does not select again what the user removes while all plants are being selected', async () => {
  const { ids, page } = await openPlants(1_001);
  let sent = 0;
  const { promise, resolve: release } = Promise.withResolvers<void>();
  await page.route('**/trpc/listPlants**', async (route) => {
    if (++sent % 2 === 0) await promise;
    await route.continue().catch(() => {}); // When the page has cancelled the request, `continue` fails.
  });
  await selectAll(page, '1,000');
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByText('plants selected').waitFor({ state: 'detached' });
  await selectAll(page, '1,000');
  await check(page, ids[0]).click();
  release();
  await page.getByText('1,000 plants selected').waitFor();
  await page.getByRole('button', { name: 'Select all' }).waitFor();
  expect(await check(page, ids[0]).isChecked()).toBe(false);
});

it('selects a row with the Space key, and several rows with Shift and an arrow key', async () => {
  const { page } = await openPlants(5);
  await tableOf(page).focus();
  await page.keyboard.press('Space');
  await page.getByText('1 plant selected').waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Shift+ArrowDown');
  await page.getByText('3 plants selected').waitFor();
  await page.keyboard.press('Space');
  await page.getByText('2 plants selected').waitFor();
  await page.keyboard.press('Escape');
  await page.getByText('plants selected').waitFor({ state: 'detached' });
});

it('keeps the selection and shows an error when the plants cannot be deleted', async () => {
  const { ids, tag, page } = await openPlants(3);
  await check(page, ids[0]).click();
  await check(page, ids[2]).click({ modifiers: ['Shift'] });
  await page.getByText('3 plants selected').waitFor();
  await page.route(deletes, (route) => route.abort());
  await deleteSelected(page, '3');
  await page.getByRole('alert').getByText('3 plants not deleted').waitFor();
  expect(await listed(tag)).toEqual(ids);
});

it('does not open a plant when the user selects text in a row with the mouse', async () => {
  const { ids, page } = await openPlants(1);
  const name = tableOf(page).getByText(`Plant ${ids[0]}`);
  const { x = 0, y = 0, width = 0, height = 0 } = (await name.boundingBox()) ?? {};
  await page.mouse.move(x + 1, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width + 5, y + height / 2, { steps: 5 });
  await page.mouse.up();
  await page.keyboard.press('Control+c');
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await expect.poll(copied).toBe(`Plant ${ids[0]}`);
  expect(await page.getByRole('dialog').count()).toBe(0);
});

it('fills the form with the fields of the plant that the user duplicates, and keeps line breaks', async () => {
  const [id, tag] = [freshId(), `${freshTag()}\r\nof two lines`];
  await client.createPlant.mutate({ id, name: 'A name\nof two lines', tag });
  const page = await openPage(`${url}/#plant=${id}`);
  await page.getByLabel('Access token').fill(token);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Duplicate …' }).click();
  const form = page.getByRole('dialog', { name: 'Add a plant' });
  await form.getByLabel('Name').press('End');
  await form.getByLabel('Name').press('Shift+Enter');
  await form.getByLabel('Name').pressSequentially('or three');
  await form.getByLabel('Tag').press('Control+End');
  await form.getByLabel('Tag').press('!');
  await form.getByLabel('Tag').press('Enter');
  await page.getByText('Added “A name ↵ or three ↵ of two lines”').waitFor();
  const { plants } = await client.listPlants.query({ tag: `${tag}!` });
  expect(plants).toMatchObject([{ name: 'A name\nor three\nof two lines' }]);
});

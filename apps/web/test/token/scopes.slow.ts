import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { freshId, freshTag } from '../fixtures/fresh.ts';
import { filterByTag, openPage, tableOf } from '../fixtures/open-page.ts';
import { sharedServer } from '../fixtures/shared-servers.ts';

const { address, tokens, client, url } = sharedServer();

const addButton = (page: Page) => page.getByRole('button', { name: 'Add a plant' });

async function openPlant(page: Page) {
  const tag = freshTag();
  await client.createPlant.mutate({ id: freshId(), name: 'Hoya carnosa', tag });
  await filterByTag(page, tag);
  await tableOf(page).getByText('Hoya carnosa').click();
  await page.getByRole('dialog', { name: 'Hoya carnosa' }).waitFor();
}

it('says that a token may only read plants, and hides the other actions', async () => {
  const page = await openPage(address(tokens['read']));
  await page.getByText('This token may read plants').waitFor();
  await openPlant(page);
  expect(await addButton(page).count()).toBe(0);
  expect(await page.getByRole('button', { name: 'Delete' }).count()).toBe(0);
});

it('shows only the form to add plants when the token may only create plants', async () => {
  const page = await openPage(`${url}/#sheet=export`);
  const calls: string[] = [];
  page.on('request', (request) => calls.push(new URL(request.url()).pathname));
  await page.getByLabel('Access token').fill(tokens['create'] ?? '');
  await page.keyboard.press('Enter');
  await page.getByText('This token may create plants').waitFor();
  expect(await tableOf(page).count()).toBe(0);
  expect(await page.getByRole('dialog').count()).toBe(0);
  const name = page.getByLabel('Name');
  for (const id of [freshId(), freshId()]) {
    await name.fill('Ficus lyrata');
    await page.getByLabel('Id', { exact: true }).fill(String(id));
    await page.getByRole('button', { name: 'Add plant' }).click();
    await expect.poll(() => name.inputValue()).toBe('');
    expect(await client.getPlant.query({ id })).toMatchObject({ name: 'Ficus lyrata' });
  }
  // The page sends no request that the store would reject.
  const allowed = ['/trpc/whoAmI', '/trpc/createPlant'];
  expect(calls.filter((path) => path.startsWith('/trpc/') && !allowed.includes(path))).toEqual([]);
});

it('deletes plants by their ids when the token may only delete plants', async () => {
  const ids = [freshId(), freshId()];
  for (const id of ids) await client.createPlant.mutate({ id, name: 'Hoya carnosa' });
  const page = await openPage(address(tokens['delete']));
  await page.getByText('This token may delete plants').waitFor();
  expect(await addButton(page).count()).toBe(0);
  await page.getByLabel('Ids').fill('4096 plants');
  await page.getByText('“plants” is not an id').waitFor();
  await page.getByLabel('Ids').fill(`${ids.join(', ')} ${freshId()}`);
  await page.getByRole('button', { name: 'Delete …' }).click();
  const question = page.getByRole('alertdialog', { name: 'Delete 3 plants?' });
  await question.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('Deleted 2 plants; 1 was not there').waitFor();
  for (const id of ids) await expect(client.getPlant.query({ id })).rejects.toThrow('no plant');
});

it('shows only requests that the user caused', async () => {
  const page = await openPage(address());
  await page.getByText('This token may').waitFor();
  await addButton(page).click();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Requests' }).click();
  const requests = page.locator('summary strong');
  await requests.first().waitFor();
  expect(new Set(await requests.allTextContents())).toEqual(new Set(['listPlants']));
});

it('shows the delete buttons when the token may delete plants', async () => {
  const page = await openPage(address(tokens['read and delete']));
  await page.getByText('This token may read and delete plants').waitFor();
  await openPlant(page);
  await page.getByRole('button', { name: 'Delete' }).waitFor();
});

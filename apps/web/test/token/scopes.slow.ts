import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { openPage, tableOf } from '../fixtures/open-page.ts';
import { address, client, freshId, openPlants, tokens, url } from '../fixtures/shared-server.ts';

const addButton = (page: Page) => page.getByRole('button', { name: 'Add a plant' });

it.each([
  ['read', 'This token may read plants', 0],
  ['read and delete', 'This token may read and delete plants', 1],
])('shows only the allowed actions when the token may %s', async (scopes, text, deletes) => {
  const { page } = await openPlants(['Hoya carnosa'], { token: tokens[scopes] });
  await page.getByText(text).waitFor();
  await tableOf(page).locator('.plant-name').waitFor();
  expect(await tableOf(page).getByRole('checkbox').count()).toBe(deletes);
  await tableOf(page).getByText('Hoya carnosa').click();
  await page.getByRole('dialog', { name: 'Hoya carnosa' }).getByText('Created').waitFor();
  expect(await addButton(page).count()).toBe(0);
  expect(await page.getByRole('button', { name: 'Delete' }).count()).toBe(deletes);
});

it('shows only the form that adds plants when the token may only create plants', async () => {
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
  // The first request reads the scopes of the token. These scopes must allow all later requests.
  const [, ...others] = calls.filter((path) => path.startsWith('/trpc/'));
  const procedures = others.flatMap((path) => path.slice('/trpc/'.length).split(','));
  expect(new Set(procedures)).toEqual(new Set(['whoAmI', 'createPlant']));
});

it('lets the user delete plants by id when the token may only delete plants', async () => {
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

it('lists only requests that the user caused', async () => {
  const page = await openPage(address());
  await page.getByText('This token may').waitFor();
  await addButton(page).click();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Requests' }).click();
  const requests = page.locator('summary strong');
  await requests.first().waitFor();
  expect(new Set(await requests.allTextContents())).toEqual(new Set(['listPlants']));
});

import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { freshId, freshTag } from '../fixtures/fresh.ts';
import { filterByTag, openPage, tableOf } from '../fixtures/open-page.ts';
import { sharedServers } from '../fixtures/shared-servers.ts';

describe.each(sharedServers)('on $database', ({ address, tokens, client }) => {
  const addButton = (page: Page) => page.getByRole('button', { name: 'Add a plant' });

  async function openPlant(page: Page) {
    const tag = freshTag();
    await client.createPlant.mutate({ id: freshId(), name: 'Hoya carnosa', tag });
    await filterByTag(page, tag);
    await tableOf(page).getByText('Hoya carnosa').click();
    await page.getByRole('dialog').getByText('Hoya carnosa').waitFor();
  }

  it('shows that a token may only read, and hides adding and deleting', async () => {
    const page = await openPage(address(tokens['read']));
    await page.getByText('This token may read plants').waitFor();
    await openPlant(page);
    expect(await addButton(page).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Delete' }).count()).toBe(0);
  });

  it('shows that a token may only create, and hides the plants', async () => {
    const page = await openPage(address(tokens['create']));
    await page.getByText('This token may create plants').waitFor();
    await page.getByText('This token may not read plants').waitFor();
    expect(await tableOf(page).count()).toBe(0);
    const id = freshId();
    await addButton(page).click();
    await page.getByLabel('Name').fill('Ficus lyrata');
    await page.getByLabel('Id', { exact: true }).fill(String(id));
    await page.getByRole('button', { name: 'Add plant' }).click();
    await page.getByText('Added “Ficus lyrata”').waitFor();
    expect(await client.getPlant.query({ id })).toMatchObject({ name: 'Ficus lyrata' });
  });

  it('shows deleting to a token that may delete', async () => {
    const page = await openPage(address(tokens['read and delete']));
    await page.getByText('This token may read and delete plants').waitFor();
    await openPlant(page);
    await page.getByRole('button', { name: 'Delete' }).waitFor();
  });
});

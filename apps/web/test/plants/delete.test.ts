import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { openPage, tableOf } from '../fixtures/open-page.ts';
import { address, client, freshId, freshTag, openPlants } from '../fixtures/shared-server.ts';

async function askToDelete(prepare?: (page: Page) => Promise<unknown>) {
  const opened = await openPlants(['Ficus lyrata'], prepare && { prepare });
  const { page } = opened;
  await tableOf(page).getByText('Ficus lyrata').click();
  await page.getByRole('button', { name: 'Delete …' }).click();
  const question = page.getByRole('alertdialog', { name: 'Delete “Ficus lyrata”?' });
  await question.waitFor();
  return { ...opened, question };
}

it('asks before a delete, and creates the plant again when the user undoes the delete', async () => {
  const { id, tag, page, question } = await askToDelete();
  await question.getByRole('button', { name: 'Delete' }).click();
  await page.getByText(`Deleted the plant ${id}`).waitFor();
  await page.getByText(`No plants with the tag “${tag}”`).waitFor();
  await expect(client.getPlant.query({ id })).rejects.toThrow('no plant has the id');
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Added 1 plant again, with a new time of creation').waitFor();
  await tableOf(page).getByText('Ficus lyrata').waitFor();
  expect(await client.getPlant.query({ id })).toMatchObject({ name: 'Ficus lyrata', tag });
});

it('offers to undo a delete while the user looks at another plant', async () => {
  const { page } = await openPlants(['Ficus lyrata', 'Hoya carnosa']);
  await tableOf(page).getByRole('checkbox').first().check();
  await page.getByRole('button', { name: 'Delete …' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete 1 plant' }).click();
  await page.getByRole('button', { name: 'Undo' }).waitFor();
  await tableOf(page).getByText('Hoya carnosa').click();
  await page.getByRole('dialog', { name: 'Hoya carnosa' }).waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await tableOf(page).getByText('Ficus lyrata').waitFor();
});

it('shows all buttons and notices on a small screen even when a name is very long', async () => {
  const [id, tag] = [freshId(), freshTag()];
  const page = await openPage(address(), { width: 360, height: 640 });
  await page.getByRole('button', { name: 'Add a plant' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('A long name '.repeat(500));
  const form = page.getByRole('dialog', { name: 'Add a plant' });
  await form.getByLabel('Tag').fill(tag);
  await form.getByLabel('Id', { exact: true }).fill(String(id));
  await form.getByRole('button', { name: 'Add plant' }).click();
  await page.getByRole('button', { name: 'Show' }).click();
  await page.getByRole('button', { name: 'Delete …' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText(`Deleted the plant ${id}`).waitFor();
});

it('closes the confirmation dialog when another client deletes the plant', async () => {
  const { id, page, question } = await askToDelete();
  await client.deletePlant.mutate({ id });
  await page.getByText('This plant was deleted.').waitFor();
  await question.waitFor({ state: 'detached' });
});

it('reports a delete as done when another client has already deleted the plant', async () => {
  // The feed is off, so the console still shows the plant that another client has deleted.
  const { id, page, question } = await askToDelete((page) =>
    page.route('**/trpc/plantChanges*', (route) => route.abort()),
  );
  await client.deletePlant.mutate({ id });
  await question.getByRole('button', { name: 'Delete' }).click();
  await page.getByText(`Deleted the plant ${id}`).waitFor();
});

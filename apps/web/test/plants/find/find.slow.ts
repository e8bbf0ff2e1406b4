import { expect, it } from 'vitest';
import { freshId, freshTag } from '../../fixtures/fresh.ts';
import {
  findField,
  firstVisible,
  openPage,
  tableOf,
  waitForTitle,
} from '../../fixtures/open-page.ts';
import { openPlants } from '../../fixtures/open-plants.ts';
import { sharedServer } from '../../fixtures/shared-servers.ts';

const { address, client } = sharedServer();

it('goes to an id, and scrolls up from this id to the first plant', async () => {
  const { ids, page } = await openPlants(1_000);
  await findField(page).fill(String(ids[900]));
  await page.keyboard.press('Enter');
  const table = tableOf(page);
  await table.getByText(`Plant ${ids[900]}`).waitFor();
  await expect.poll(() => firstVisible(page)).toBe(`Plant ${ids[900]}`);
  await table.evaluate((scroller) => scroller.scrollBy(0, -36 * 5));
  await expect.poll(() => firstVisible(page)).toBe(`Plant ${ids[895]}`);

  await table.focus();
  await page.keyboard.press('Home');
  await table.getByText(`Plant ${ids[0]}`).waitFor();
});

it('suggests the tags of loaded rows, and accepts a typed tag', async () => {
  const { tag, page } = await openPlants(1);
  await waitForTitle(page, '1 plant');
  await page.getByRole('button', { name: `Remove the filter by the tag ${tag}` }).click();
  await tableOf(page).waitFor();
  await findField(page).fill(tag.slice(0, -1).toUpperCase());
  await page.getByRole('option', { name: `Tag “${tag}”`, exact: true }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await page.getByText('Tag: ').first().waitFor();
});

it('does not change the table while the user types', async () => {
  const { ids, page } = await openPlants(1);
  const lists: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('listPlants')) lists.push(request.url());
  });
  await findField(page).pressSequentially('Araceae');
  await page.getByRole('option', { name: 'Tag “Araceae”' }).waitFor();
  await tableOf(page).getByText(`Plant ${ids[0]}`).waitFor();
  expect(lists).toEqual([]);
});

it.each([
  ['an empty tag', '', 'empty'],
  ['a tag with a line break', 'first\nsecond', 'first ↵ second'],
])('finds plants by a click on %s in a row', async (_case, tag, shown) => {
  const id = freshId();
  await client.createPlant.mutate({ id, name: `Tagged ${id}`, tag });
  const page = await openPage(address());
  await findField(page).fill(String(id));
  await page.keyboard.press('Enter');
  const row = tableOf(page)
    .getByRole('row')
    .filter({ hasText: `Tagged ${id}` });
  await row.getByRole('link', { name: shown }).click();
  await page.locator('.chip').getByText(shown).waitFor();
  await tableOf(page).getByText(`Tagged ${id}`).waitFor();
  expect(new URLSearchParams(new URL(page.url()).hash.slice(1)).get('tag')).toBe(tag);

  await findField(page).fill('');
  await page
    .getByRole('option', { name: `Tag “${shown}”` })
    .first()
    .waitFor();
  await client.deletePlant.mutate({ id });
});

it('finds a tag with a line break when the user types or pastes the tag', async () => {
  const [id, first, last] = [freshId(), freshTag(), 'second'];
  await client.createPlant.mutate({ id, name: `Tagged ${id}`, tag: `${first}\n${last}` });
  const page = await openPage(address());
  await findField(page).fill(`${first} ↵ ${last}`);
  await page.getByText('↵ stands for a line break').waitFor();
  await page.keyboard.press('Enter');
  await tableOf(page).getByText(`Tagged ${id}`).waitFor();
  await page.goBack();
  await page.locator('.chip').waitFor({ state: 'detached' });

  // A cell of a spreadsheet ends with a line break.
  await page.evaluate((text) => navigator.clipboard.writeText(text), `${first}\n${last}\r\n`);
  await findField(page).focus();
  await page.keyboard.press('Control+v');
  expect(await findField(page).inputValue()).toBe(`${first} ↵ ${last}`);
  await page.keyboard.press('Enter');
  await tableOf(page).getByText(`Tagged ${id}`).waitFor();
  expect(new URLSearchParams(new URL(page.url()).hash.slice(1)).get('tag')).toBe(
    `${first}\n${last}`,
  );
});

it('says at once why a number is not an id', async () => {
  const page = await openPage(address());
  await findField(page).fill('007');
  await page.getByText('an id must be a whole number').waitFor();
  await findField(page).fill('9223372036854775808');
  await page.getByText('an id must be from -9223372036854775808').waitFor();
});

it('keeps the filter, the place and the open plant in the address', async () => {
  const { ids, page } = await openPlants(200);
  await findField(page).fill(String(ids[100]));
  await page.keyboard.press('Enter');
  await tableOf(page).getByText(`Plant ${ids[101]}`).click();
  const sheet = page.getByRole('dialog', { name: `Plant ${ids[101]}` });
  await sheet.getByText(String(ids[101]), { exact: true }).waitFor();
  await page.reload();
  await sheet.getByText(String(ids[101]), { exact: true }).waitFor();
  await page.goBack();
  await sheet.waitFor({ state: 'detached' });
  await tableOf(page).getByText(`Plant ${ids[100]}`).waitFor();
  await waitForTitle(page, '200 plants');
  expect(await tableOf(page).getByText(`Plant ${ids[0]}`, { exact: true }).count()).toBe(0);
  await page.goBack();
  await tableOf(page).getByText(`Plant ${ids[0]}`).waitFor();
});

it('shows the plants before and after the open plant', async () => {
  const { ids, page } = await openPlants(3);
  await tableOf(page).getByText(`Plant ${ids[1]}`).click();
  const step = (name: string) => page.getByRole('button', { name: `${name} plant` });
  await step('Previous').click();
  await page.getByRole('dialog', { name: `Plant ${ids[0]}` }).waitFor();
  await expect.poll(() => step('Previous').isDisabled()).toBe(true);
  for (const id of ids.slice(1)) {
    await step('Next').click();
    await page.getByRole('dialog', { name: `Plant ${id}` }).waitFor();
  }
  await expect.poll(() => step('Next').isDisabled()).toBe(true);
});

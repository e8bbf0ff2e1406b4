import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { freshId, freshTag } from '../../fixtures/fresh.ts';
import { filterByTag, findField, openPage, tableOf } from '../../fixtures/open-page.ts';
import { sharedServer } from '../../fixtures/shared-servers.ts';

const { address, client } = sharedServer();

/** Creates plants with a tag. Their names contain their ids. */
async function createPlants(count: number, tag = freshTag()) {
  const ids = Array.from({ length: count }, freshId);
  await client.createPlants.mutate({
    plants: ids.map((id) => ({ id, name: `Plant ${id}`, tag })),
  });
  return { ids, tag };
}
const count = (page: Page, text: string) =>
  page.locator('.title').getByText(text, { exact: true }).waitFor();

it('goes to an id, and scrolls up from there to the first plant', async () => {
  const { ids, tag } = await createPlants(1_000);
  const page = await openPage(address());
  await filterByTag(page, tag);
  await findField(page).fill(String(ids[900]));
  await page.keyboard.press('Enter');
  const table = tableOf(page);
  await table.getByText(`Plant ${ids[900]}`).waitFor();
  const firstVisible = () =>
    table.evaluate((scroller) => {
      const { top } = scroller.getBoundingClientRect();
      const rows = [...scroller.querySelectorAll('.plant-row')];
      const visible = rows.filter((row) => row.getBoundingClientRect().top >= top + 30);
      visible.sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top);
      return visible[0]?.querySelector('.plant-name')?.textContent;
    });
  await expect.poll(firstVisible).toBe(`Plant ${ids[900]}`);
  await table.evaluate((scroller) => scroller.scrollBy(0, -36 * 5));
  await expect.poll(firstVisible).toBe(`Plant ${ids[895]}`);

  await table.focus();
  await page.keyboard.press('Home');
  await table.getByText(`Plant ${ids[0]}`).waitFor();
});

it('suggests the tags of loaded rows, and accepts a typed tag', async () => {
  const { tag } = await createPlants(1);
  const page = await openPage(address());
  await filterByTag(page, tag);
  await count(page, '1 plant');
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
  const { ids, tag } = await createPlants(1);
  const page = await openPage(address());
  await filterByTag(page, tag);
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
])('finds plants by the tag in a row, even by %s', async (_case, tag, shown) => {
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

it('keeps the filter, the place and the open plant after a reload, and closes the plant when the user goes back', async () => {
  const { ids, tag } = await createPlants(200);
  const page = await openPage(address());
  await filterByTag(page, tag);
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
  await count(page, '200 plants');
  expect(await tableOf(page).getByText(`Plant ${ids[0]}`, { exact: true }).count()).toBe(0);
  await page.goBack();
  await tableOf(page).getByText(`Plant ${ids[0]}`).waitFor();
});

it('shows the plants before and after the open plant', async () => {
  const { ids, tag } = await createPlants(3);
  const page = await openPage(address());
  await filterByTag(page, tag);
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

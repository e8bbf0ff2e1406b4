import { expect, it } from 'vitest';
import {
  findField,
  firstVisible,
  namesOf,
  openPage,
  tableOf,
  waitForTitle,
} from '../../fixtures/open-page.ts';
import {
  address,
  client,
  createPlants,
  freshId,
  freshTag,
  openPlants,
} from '../../fixtures/shared-server.ts';

it('shows the plant with the typed id, and lets the user scroll up to the first plant', async () => {
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

it('suggests the tag of a loaded row when the user types a part of the tag', async () => {
  const { tag, page } = await openPlants(1);
  await waitForTitle(page, '1 plant');
  await page.getByRole('button', { name: `Remove the filter by the tag ${tag}` }).click();
  await tableOf(page).waitFor();
  await findField(page).fill(tag.slice(0, -1).toUpperCase());
  await page.getByRole('button', { name: `Tag “${tag}”`, exact: true }).click();
  await page.getByText('Tag: ').first().waitFor();
});

it('finds plants by a part of their names while the user types, and opens the first plant on Enter', async () => {
  const [word, ids] = [`Gruen${freshId()}`, [freshId(), freshId(), freshId()]];
  const names = [`Acer ${word}`, `${word.toUpperCase()} minor`, 'Ficus'];
  await createPlants(ids, freshTag(), (id) => names[ids.indexOf(id)] ?? '');
  const page = await openPage(address());
  await tableOf(page).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type(word.toLowerCase());
  await waitForTitle(page, '2 plants found');
  await expect.poll(() => namesOf(page)).toEqual(names.slice(0, 2));

  // The feed must be live first, so that the list gets the new plant.
  await page.locator('[data-feed="live"]').waitFor();
  const others = [freshId(), freshId()];
  await createPlants(others.slice(0, 1), freshTag(), () => `Größe ${freshId()}`);
  await createPlants(others.slice(1), freshTag(), () => `Later ${word}`);
  await waitForTitle(page, '3 plants found');
  await expect.poll(() => namesOf(page)).toEqual([...names.slice(0, 2), `Later ${word}`]);
  await client.deletePlant.mutate({ id: others[1] ?? 0n });
  await waitForTitle(page, '2 plants found');

  await findField(page).press('Enter');
  await page.getByRole('dialog', { name: `Acer ${word}` }).waitFor();
  await page.getByRole('button', { name: 'Next plant' }).click();
  await page.getByRole('dialog', { name: `${word.toUpperCase()} minor` }).waitFor();
  await page.reload();
  await page.getByRole('dialog', { name: `${word.toUpperCase()} minor` }).waitFor();
  await page.keyboard.press('Escape');
  await waitForTitle(page, '2 plants found');
  expect(await findField(page).inputValue()).toBe(word.toLowerCase());
  await findField(page).press('Escape');
  await page.getByRole('heading', { name: 'found' }).waitFor({ state: 'detached' });
});

it('shows the tag and the search text when a search finds no plants', async () => {
  const { tag, page } = await openPlants(['Ficus']);
  await findField(page).fill('zzz');
  const message = page.getByText(`No plants with the tag “${tag}” and with “zzz” in their names.`);
  await message.waitFor();
  expect((await message.boundingBox())?.height).toBeLessThan(60);
  await page.getByRole('button', { name: 'Show all plants' }).click();
  await tableOf(page).waitFor();
  await expect.poll(() => new URL(page.url()).hash).toBe('');
});

it('opens the first plant after the user has scrolled to other plants', async () => {
  const { ids, page } = await openPlants(1_100);
  await findField(page).fill('Plant');
  // Without this wait, the test would scroll the list without the search, which has the same plants.
  await expect.poll(() => page.url()).toContain('search=Plant');
  await page.getByRole('heading', { name: 'plants found' }).waitFor();
  await expect
    .poll(async () => {
      await tableOf(page).evaluate((scroller) => scroller.scrollTo(0, scroller.scrollHeight));
      return page.getByText('– 1,100 of 1,100 plants').count();
    })
    .toBe(1);
  await findField(page).press('Enter');
  await page.getByRole('dialog', { name: `Plant ${ids[0]}` }).waitFor();
});

it('finds digits in names, and says when no plant has the typed id', async () => {
  const { ids, page } = await openPlants(3);
  const digits = String(ids[1]);
  await findField(page).fill(digits);
  await page.getByRole('button', { name: `Names with “${digits}”` }).click();
  await waitForTitle(page, '1 plant found');
  await findField(page).fill(String((ids[1] ?? 0n) + 10n ** 9n));
  await page.keyboard.press('Enter');
  await page.getByText(`The list has no plant with the id ${(ids[1] ?? 0n) + 10n ** 9n}`).waitFor();
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
  await client.deletePlant.mutate({ id });
});

it('finds a tag with a line break when the user types or pastes the tag', async () => {
  const [id, first, last] = [freshId(), freshTag(), 'second'];
  await client.createPlant.mutate({ id, name: `Tagged ${id}`, tag: `${first}\n${last}` });
  const page = await openPage(address());
  await findField(page).fill(`${first} ↵ ${last}`);
  await page.getByText('↵ stands for a line break').waitFor();
  const offer = page.getByRole('button', { name: `Tag “${first} ↵ ${last}”` });
  await offer.click();
  await tableOf(page).getByText(`Tagged ${id}`).waitFor();
  await page.goBack();
  await page.locator('.chip').waitFor({ state: 'detached' });

  // Text that is copied from a spreadsheet ends with a line break.
  await page.evaluate((text) => navigator.clipboard.writeText(text), `${first}\n${last}\r\n`);
  await findField(page).fill('');
  await page.keyboard.press('Control+v');
  await expect.poll(() => findField(page).inputValue()).toBe(`${first} ↵ ${last}`);
  await offer.click();
  await tableOf(page).getByText(`Tagged ${id}`).waitFor();
  expect(new URLSearchParams(new URL(page.url()).hash.slice(1)).get('tag')).toBe(
    `${first}\n${last}`,
  );
});

it('says immediately why a number is not an id', async () => {
  const page = await openPage(address());
  await findField(page).fill('007');
  await page.getByText('an id must be a whole number').waitFor();
  await findField(page).fill('9223372036854775808');
  await page.getByText('an id must be from -9223372036854775808').waitFor();
});

it('stores the filter, the place in the list and the open plant in the address', async () => {
  const { ids, tag, page } = await openPlants(200);
  await findField(page).fill(String(ids[100]));
  await page.keyboard.press('Enter');
  await tableOf(page).getByText(`Plant ${ids[101]}`).click();
  const sheet = page.getByRole('dialog', { name: `Plant ${ids[101]}` });
  await sheet.getByText(String(ids[101]), { exact: true }).waitFor();
  expect(await page.title()).toBe(`Plant ${ids[101]} · Tag ${tag} · Plant Store`);
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

it('opens the previous or the next plant with a button', async () => {
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

import { expect, it } from 'vitest';
import { filterByTag, namesOf, openPage, tableOf } from '../../fixtures/open-page.ts';
import {
  address,
  client,
  createPlants,
  freshId,
  freshTag,
  openPlants,
} from '../../fixtures/shared-server.ts';

it('shows all fields of a plant, including the time of its creation', async () => {
  const name = `A long name ${'and so on '.repeat(40)}to the end`;
  const { id, tag, page } = await openPlants([name]);
  const { createdAt } = await client.getPlant.query({ id });
  await tableOf(page).locator('#row-0 .plant-name').click();
  const details = page.getByRole('dialog', { name });
  for (const text of [String(id), tag, createdAt.toISOString()]) {
    await details.getByText(text, { exact: true }).waitFor();
  }
});

it('makes invisible characters visible, and does not run markup in a name', async () => {
  const names = ['<img src=x onerror=alert(1)> 🪴', '\u202eright to left', '   ', '\u200b'];
  const { page } = await openPlants(names);
  await expect
    .poll(() => namesOf(page))
    .toEqual([names[0], '[U+202E]right to left', 'only spaces', 'only invisible characters']);
  await tableOf(page).getByText('right to left').click();
  await page.getByRole('definition').getByText('[U+202E]right to left').waitFor();
});

it('shows the start of a very long name, copies the whole name, and keeps the sheet usable', async () => {
  const name = 'A'.repeat(1_000_000);
  const { page } = await openPlants([name]);
  await page.setViewportSize({ width: 360, height: 740 });
  await tableOf(page).locator('.plant-name').click();
  await page.getByRole('button', { name: 'Copy name' }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(name);
  const title = page.getByRole('dialog').getByRole('heading');
  expect((await title.boundingBox())?.height).toBeLessThan(100);
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

it('does not let a right-to-left name change the direction of other texts', async () => {
  const name = 'نخلة התמר';
  const { page } = await openPlants([name]);
  const notIsolated = () =>
    page.evaluate((name) => {
      const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      const found: (string | undefined)[] = [];
      for (let node = texts.nextNode(); node; node = texts.nextNode()) {
        const { parentElement: parent, textContent } = node;
        const isIsolated = parent?.closest('bdi, textarea, pre, .visually-hidden');
        if (textContent?.includes(name) && !isIsolated) found.push(parent?.outerHTML);
      }
      return found;
    }, name);
  await tableOf(page).getByText(name).click();
  await page.getByRole('button', { name: 'Delete …' }).click();
  await page.getByRole('alertdialog', { name: `Delete “${name}”?` }).waitFor();
  expect(await page.locator('bdi', { hasText: name }).count()).toBeGreaterThan(3);
  expect(await notIsolated()).toEqual([]);
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Duplicate …' }).click();
  await page.getByRole('button', { name: 'Add plant' }).click();
  await page.getByRole('status').getByText(`Added “${name}”`).waitFor();
  expect(await notIsolated()).toEqual([]);
});

it('keeps the columns in place, cuts off only very long names, and shows each id in one line', async () => {
  const page = await openPage(address(), { width: 1280, height: 800 });
  const columns = async (name: string) => {
    const tag = freshTag();
    await createPlants([freshId()], tag, () => name);
    await filterByTag(page, tag);
    const row = tableOf(page).locator('#row-0');
    const boxOf = async (part: string) => (await row.locator(part).boundingBox())?.x;
    const isCut = (part: string) =>
      row.locator(part).evaluate((node) => node.scrollWidth > node.clientWidth);
    return {
      places: await Promise.all(['.plant-name', '.plant-tag', '.plant-createdAt'].map(boxOf)),
      isNameCut: await isCut('.plant-name'),
      isIdCut: await isCut('.plant-id'),
    };
  };
  const short = await columns('Aloe');
  expect(await columns('Monstera deliciosa')).toEqual(short);
  const long = await columns('and so on '.repeat(40));
  expect(long).toEqual({ ...short, isNameCut: true });
  expect([short.isNameCut, short.isIdCut]).toEqual([false, false]);
});

it('moves to the next row, the last row and the first row with the keyboard', async () => {
  const { ids, page } = await openPlants(60);
  const table = tableOf(page);
  const activeText = () =>
    table.evaluate((node) => {
      const row = document.getElementById(node.getAttribute('aria-activedescendant') ?? '');
      return row?.querySelector('.plant-name')?.textContent;
    });
  await table.focus();
  await page.keyboard.press('ArrowDown');
  await expect.poll(activeText).toBe(`Plant ${ids[1]}`);
  await page.keyboard.press('End');
  await expect.poll(activeText).toBe(`Plant ${ids.at(-1)}`);
  await page.keyboard.press('Home');
  await expect.poll(activeText).toBe(`Plant ${ids[0]}`);
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: `Plant ${ids[0]}` }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.getByRole('dialog', { name: `Plant ${ids[1]}` }).waitFor();
  const opened = page.waitForEvent('popup');
  await page.getByRole('link', { name: 'Open in a new tab' }).click();
  await (await opened).getByRole('dialog', { name: `Plant ${ids[1]}` }).waitFor();
  await table.focus();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await expect.poll(() => table.evaluate((node) => node === document.activeElement)).toBe(true);
});

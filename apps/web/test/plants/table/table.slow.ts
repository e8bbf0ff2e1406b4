import { expect, it } from 'vitest';
import { freshId, freshTag } from '../../fixtures/fresh.ts';
import { filterByTag, findField, namesOf, openPage, tableOf } from '../../fixtures/open-page.ts';
import { createPlants, openPlants } from '../../fixtures/open-plants.ts';
import { sharedServer } from '../../fixtures/shared-servers.ts';

const greatest = 2n ** 63n - 1n;
const least = -(2n ** 63n);

const { address, client } = sharedServer();

it('shows only the plants with the tag of the filter', async () => {
  await createPlants([freshId()], freshTag());
  const { page } = await openPlants(['Tagged']);
  await expect.poll(() => namesOf(page)).toEqual(['Tagged']);
});

it.each([greatest, least])('goes to exactly the id %s', async (id) => {
  await client.createPlant.mutate({ id, name: 'At the end' });
  const page = await openPage(address());
  await findField(page).fill(String(id));
  await page.getByRole('option', { name: `Go to id ${id}` }).click();
  const row = tableOf(page).getByRole('row').filter({ hasText: 'At the end' });
  await expect.poll(() => row.locator('.plant-id').textContent()).toBe(String(id));
  await client.deletePlant.mutate({ id });
});

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

it('shows any name unchanged, and does not run markup in a name', async () => {
  const name = '<img src=x onerror=alert(1)> 🪴 \u202eright to left';
  const { page } = await openPlants([name]);
  await tableOf(page).getByText(name, { exact: true }).waitFor();
});

it('applies the text direction of a name only to the name, in every view', async () => {
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

it('makes a column as wide as its names, and cuts off only very long names', async () => {
  const page = await openPage(address());
  const columns = async (name: string) => {
    const tag = freshTag();
    await createPlants([freshId()], tag, () => name);
    await filterByTag(page, tag);
    const text = tableOf(page).getByText(name, { exact: true });
    const [shown, next] = await Promise.all([
      text.boundingBox(),
      tableOf(page).getByRole('link', { name: tag }).boundingBox(),
    ]);
    const cell = text.locator('xpath=..');
    const isCut = await cell.evaluate((node) => node.scrollWidth > node.clientWidth);
    return { isCut, gap: (next?.x ?? 0) - (shown?.x ?? 0) - (shown?.width ?? 0) };
  };
  for (const name of [
    'Monstera deliciosa',
    'A name of fifty letters that fits without an ellipsis',
  ]) {
    const { isCut, gap } = await columns(name);
    expect(isCut).toBe(false);
    expect(Math.abs(gap - 20), 'pixels to the tag, beside the 20 between columns').toBeLessThan(2);
  }
  expect(await columns('and so on '.repeat(40))).toMatchObject({ isCut: true });
});

it('moves from the first row to the last row by the arrow keys', async () => {
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
  await page.keyboard.press('Escape');
  await expect.poll(() => table.evaluate((node) => node === document.activeElement)).toBe(true);
});

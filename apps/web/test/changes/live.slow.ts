import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import {
  filterByTag,
  namesOf,
  openPage,
  setVisibility,
  tableOf,
  waitForTitle,
} from '../fixtures/open-page.ts';
import { address, client, createPlants, freshId, freshTag } from '../fixtures/shared-server.ts';

const nameOf = (id = 0n) => `Plant ${id}`;

/** Creates every second plant of a list, opens the list, and waits until the feed is live. */
async function openList(rows: number) {
  const [tag, ids] = [freshTag(), Array.from({ length: 2 * rows }, freshId)];
  const even = ids.filter((_id, i) => i % 2 === 0);
  await createPlants(even, tag);
  const page = await openPage(address());
  await filterByTag(page, tag);
  await waitForTitle(page, `${rows} plants`);
  await page.locator('[data-feed="live"]').waitFor();
  return { page, tag, ids, even };
}

it('highlights plants that other clients create, unless the user prefers reduced motion, and removes plants that other clients delete', async () => {
  const { page, tag, ids } = await openList(3);
  const [first = 0n, second = 0n, third = 0n, , fifth = 0n] = ids;
  const animation = animationOfNewRow(page);
  await client.createPlant.mutate({ id: second, name: nameOf(second), tag });
  expect(await animation).toBe('plant-new');
  await expect.poll(() => namesOf(page)).toEqual([first, second, third, fifth].map(nameOf));
  await waitForTitle(page, '4 plants');

  await client.deletePlant.mutate({ id: first });
  await waitForTitle(page, '3 plants');
  await expect.poll(() => namesOf(page)).toEqual([second, third, fifth].map(nameOf));

  await page.emulateMedia({ reducedMotion: 'reduce' });
  const noAnimation = animationOfNewRow(page);
  await createPlants(ids.slice(5), tag);
  expect(await noAnimation).toBe('none');
});

/** Returns the animation of the first new row. The console highlights a new row only for two seconds. */
async function animationOfNewRow(page: Page): Promise<string> {
  const animation = await page.waitForFunction(() => {
    const row = document.querySelector('[data-new]');
    return row && getComputedStyle(row).animationName;
  });
  return (await animation.jsonValue()) ?? '';
}

it('adds new plants to an empty list only if the plants have the tag of the filter', async () => {
  const [tag, other] = [freshTag(), freshTag()];
  const [id, last] = [freshId(), freshId()];
  const page = await openPage(address());
  await filterByTag(page, tag);
  await page.locator('[data-feed="live"]').waitFor();
  await createPlants([freshId()], other);
  await createPlants([id], tag);
  await createPlants([freshId()], other);
  await createPlants([last], tag);
  await waitForTitle(page, '2 plants');
  await expect.poll(() => namesOf(page)).toEqual([nameOf(id), nameOf(last)]);
  await Promise.all([id, last].map((each) => client.deletePlant.mutate({ id: each })));
  await page.getByText(`No plants with the tag “${tag}”`).waitFor();
});

it('does not move the row under the pointer, and keeps the selection and the active row', async () => {
  const { page, tag, ids, even } = await openList(40);
  const table = tableOf(page);
  const rowOf = (id?: bigint) => table.getByRole('row').filter({ hasText: nameOf(id) });
  const topOf = async (id?: bigint) => (await rowOf(id).boundingBox())?.y;
  const [selected, active, hovered] = [even[2], even[4], even[6]];
  await table.focus();
  for (let i = 0; i < 4; i++) await page.keyboard.press('ArrowDown');
  await rowOf(selected).getByRole('checkbox').check();
  await table.focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await rowOf(hovered).hover();
  const top = await topOf(hovered);

  await createPlants(
    [1, 3, 7, 9, 15].map((i) => ids[i] ?? 0n),
    tag,
  );
  await client.deletePlant.mutate({ id: even[0] ?? 0n });
  await waitForTitle(page, '44 plants');
  await table.getByText(nameOf(ids[15])).waitFor();
  expect(await topOf(hovered)).toBe(top);
  expect(await rowOf(selected).getByRole('checkbox').isChecked()).toBe(true);
  expect(await rowOf(active).getAttribute('data-active')).toBe('true');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: nameOf(active) }).waitFor();
});

it('does not move the rows on the screen when earlier and later plants are created', async () => {
  const { page, tag, ids, even } = await openList(400);
  const table = tableOf(page);
  await table.evaluate((scroller) => scroller.scrollBy(0, 36 * 200));
  const topOf = async () =>
    (await table.getByText(nameOf(even[205]), { exact: true }).boundingBox())?.y;
  await table.getByText(nameOf(even[205]), { exact: true }).waitFor();
  await page.mouse.move(0, 0);
  const top = await topOf();
  const odd = ids.filter((_id, i) => i % 2 === 1);
  await createPlants([...odd.slice(150, 190), ...odd.slice(250, 300)], tag);
  await waitForTitle(page, '490 plants');
  expect(await topOf()).toBe(top);
});

it('removes deleted plants from the selection, and says that the open plant was deleted', async () => {
  const { page, even } = await openList(3);
  const boxes = tableOf(page).getByRole('checkbox');
  await boxes.first().check();
  await boxes.nth(1).check();
  await page.getByText('2 plants selected').waitFor();
  await tableOf(page).getByText(nameOf(even[0])).click();
  const details = page.getByRole('dialog', { name: nameOf(even[0]) });
  await details.getByText(String(even[0]), { exact: true }).waitFor();
  await client.deletePlant.mutate({ id: even[0] ?? 0n });
  await details.getByText('This plant was deleted.').waitFor();
  expect(await details.getByRole('button', { name: 'Delete …' }).count()).toBe(0);
  await page.keyboard.press('Escape');
  await page.getByText('1 plant selected').waitFor();
});

it('counts a change by the console itself only once, and keeps an open form', async () => {
  const { page, tag, ids, even } = await openList(2);
  const titles: string[] = [];
  await page.exposeFunction('report', (title: string) => titles.push(title));
  await page.evaluate(() => {
    const title = document.querySelector('h1');
    if (!title) return;
    new MutationObserver(() => Object(window).report(title.textContent)).observe(title, {
      ...{ characterData: true, childList: true, subtree: true },
    });
  });
  await page.getByRole('button', { name: 'Add a plant' }).click();
  const form = page.getByRole('dialog', { name: 'Add a plant' });
  await form.getByLabel('Name').fill('Half a na');
  await createPlants(ids.slice(3), tag);
  await waitForTitle(page, '3 plants');
  expect(await form.getByLabel('Name').inputValue()).toBe('Half a na');
  await form.getByLabel('Name').fill('Of this page');
  await form.getByLabel('Tag').fill(tag);
  await form.getByLabel('Id', { exact: true }).fill(String(ids[1]));
  await form.getByRole('button', { name: 'Add plant' }).click();
  await waitForTitle(page, '4 plants');
  const names = [nameOf(even[0]), 'Of this page', nameOf(even[1])];
  await expect.poll(() => namesOf(page)).toEqual([...names, nameOf(ids[3])]);
  await tableOf(page).getByText('Of this page').click();
  const counted = page.waitForResponse((response) => response.url().includes('countPlants'));
  await page.getByRole('button', { name: 'Delete …' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await tableOf(page).getByText('Of this page').waitFor({ state: 'detached' });
  await waitForTitle(page, '3 plants');
  await counted;
  expect(new Set(titles)).toEqual(new Set(['3 plants', '4 plants']));
});

it('requests no changes in a hidden tab, and shows missed changes when the tab is visible again', async () => {
  const { page, tag, ids } = await openList(2);
  const closed = page.waitForEvent('requestfailed', (request) =>
    request.url().includes('plantChanges'),
  );
  await setVisibility(page, 'hidden');
  await closed;
  await createPlants(ids.slice(3), tag);
  await setVisibility(page, 'visible');
  await tableOf(page).getByText(nameOf(ids[3])).waitFor();
  await waitForTitle(page, '3 plants');
});

it('updates the list only a few times a second, and has only the first part of a long list in memory', async () => {
  const { page, tag } = await openList(2);
  const startedAt = performance.now();
  await page.evaluate(() => {
    const title = document.querySelector('h1');
    const updates = { count: 0 };
    Object.assign(window, { updates });
    if (!title) return;
    new MutationObserver(() => updates.count++).observe(title, {
      characterData: true,
      subtree: true,
    });
  });
  for (let i = 0; i < 12; i++) {
    await createPlants(Array.from({ length: 1_000 }, freshId), tag);
  }
  await waitForTitle(page, '12,002 plants');
  const updates: number = await page.evaluate(() => Object(window).updates.count);
  expect(updates).toBeLessThanOrEqual((performance.now() - startedAt) / 250 + 1);
  // The table has not loaded all rows, so `aria-rowcount` is -1, which means unknown.
  await tableOf(page).and(page.locator('[aria-rowcount="-1"]')).waitFor();
  expect(await tableOf(page).locator('.plant-row').count()).toBeLessThan(50);
});

import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { importFiles } from '../fixtures/drop-files.ts';
import { asPhone, filterByTag, openPage, tableOf, withFontOf } from '../fixtures/open-page.ts';
import { address, createPlants, freshId, freshTag } from '../fixtures/shared-server.ts';
import { openView, viewNames } from '../fixtures/views.ts';

const parts =
  ':is(button, a, input, textarea, h1, h2, h3, p, label, th, td, summary, dt, dd, code, [role=columnheader], .plant-row > :not(.plant-check))';

/** Finds texts and controls that overlap or are cut off. */
function overlapsAndCuts(page: Page): Promise<string[]> {
  return page.evaluate((parts) => {
    const dialogs = document.querySelectorAll('dialog[open]');
    const top = dialogs[dialogs.length - 1] ?? document.body;
    const isShown = (element: Element) => {
      const { width, height } = element.getBoundingClientRect();
      return element.checkVisibility() && width > 1 && height > 1;
    };
    const shown = [...top.querySelectorAll<HTMLElement>(parts)].filter(isShown);
    const nameOf = (element: Element) =>
      `${element.tagName}.${element.className} “${(element.textContent || element.getAttribute('aria-label')) ?? ''}”`;
    const boxOf = (element: Element) => {
      let { left, right, top, bottom } = element.getBoundingClientRect();
      // Measures only the visible part of the element. A scroll container may hide the other parts.
      for (let parent = element.parentElement; parent; parent = parent.parentElement) {
        if (getComputedStyle(parent).overflow === 'visible') continue;
        const outer = parent.getBoundingClientRect();
        [left, right] = [Math.max(left, outer.left), Math.min(right, outer.right)];
        [top, bottom] = [Math.max(top, outer.top), Math.min(bottom, outer.bottom)];
      }
      return { left, right, top, bottom };
    };
    const boxes = shown.map((element) => ({ element, ...boxOf(element) }));
    const found: string[] = [];
    for (const [i, a] of boxes.entries()) {
      const isCut = a.element.scrollWidth > a.element.clientWidth + 1 && a.element.clientWidth > 0;
      if (isCut && !a.element.matches('input, textarea')) found.push(`cut: ${nameOf(a.element)}`);
      if (a.left < -1 || a.right > innerWidth + 1) found.push(`beside: ${nameOf(a.element)}`);
      for (const b of boxes.slice(i + 1)) {
        const isInside = a.element.contains(b.element) || b.element.contains(a.element);
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const along = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        // The sticky header of the table covers rows on purpose.
        const isSticky = [a, b].some(({ element }) =>
          element.closest('[role=row][aria-rowindex="1"], .selection'),
        );
        if (!isInside && !isSticky && across > 1 && along > 1) {
          found.push(`${nameOf(a.element)} covers ${nameOf(b.element)}`);
        }
      }
    }
    return found;
  }, parts);
}

it('shows the table on most of the screen at 400 % zoom, and lets the user scroll the page', async () => {
  const tag = freshTag();
  await createPlants(Array.from({ length: 100 }, freshId), tag);
  const page = await openPage(address(), { width: 320, height: 256 });
  await filterByTag(page, tag);
  const { height = 0 } = (await tableOf(page).boundingBox()) ?? {};
  expect(height).toBeGreaterThan(200);
  const { page: pageHeight, width } = await page.evaluate(() => ({
    page: document.documentElement.scrollHeight,
    width: document.documentElement.scrollWidth,
  }));
  expect(pageHeight).toBeGreaterThan(height + 100);
  expect(width).toBe(320);

  await page.getByRole('button', { name: 'Forget token' }).scrollIntoViewIfNeeded();
  await tableOf(page).getByRole('checkbox').nth(1).click();
  const bar = page.getByRole('region', { name: 'Selected plants' });
  await expect.poll(() => isOnScreen(page, bar)).toBe(true);
  await tableOf(page).locator('.plant-name').nth(2).click();
  const remove = page.getByRole('dialog').getByRole('button', { name: 'Delete …' });
  await remove.click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('Deleted the plant').waitFor();
});

it.each(viewNames)(
  'shows all texts and controls completely with a font of 32 pixels in the view "%s"',
  async (name) => {
    const page = await openView(name, (page) => withFontOf(page, 32));
    expect(await page.evaluate(() => getComputedStyle(document.documentElement).fontSize)).toBe(
      '32px',
    );
    expect(await overlapsAndCuts(page)).toEqual([]);
  },
);

it.each([768, 900, 1024])('fits a table and a plant into %i pixels of width', async (width) => {
  const tag = freshTag();
  await createPlants([freshId(), freshId()], tag);
  const page = await openPage(address(), { width, height: 768 });
  await filterByTag(page, tag);
  const names = tableOf(page).locator('.plant-name');
  await names.first().click();
  const next = page.getByRole('dialog').getByRole('button', { name: 'Next plant' });
  await next.waitFor();
  const firstPlant = page.url();
  await names.last().click();
  await expect.poll(() => page.url()).not.toBe(firstPlant);
  expect((await tableOf(page).boundingBox())?.width).toBeGreaterThan(width * 0.45);
  expect(await overlapsAndCuts(page)).toEqual([]);
});

it.each([320, 360, 768, 1024])(
  'shows the summary of an import and all buttons of the header on a screen of %i pixels',
  async (width) => {
    const page = await openPage(address(), { width, height: 740 });
    await filterByTag(page, freshTag());
    await importFiles(page, { 'a.csv': 'id,name\nx,Hoya\ny,Hoya\n' });
    await page
      .getByRole('button', { name: '0 added, 2 need attention' })
      .waitFor({ state: 'attached' });
    await page.keyboard.press('Escape');
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    expect(await overlapsAndCuts(page)).toEqual([]);
  },
);

it('shows all digits of a long id beside a long tag on a screen of 320 pixels', async () => {
  const tag = freshTag();
  const id = -(2n ** 63n) + freshId();
  await createPlants([id], tag);
  const page = await openPage(address(), { width: 320, height: 740 });
  await filterByTag(page, tag);
  const cell = tableOf(page).locator('.plant-id');
  expect(await cell.textContent()).toBe(String(id));
  expect(await cell.evaluate((node) => node.scrollWidth <= node.clientWidth)).toBe(true);
});

it('shows the hint about dropped files on a desktop, but not on a phone', async () => {
  const page = await openView('import with rejects');
  const hint = page.getByText('Drop files anywhere');
  await hint.waitFor();
  await asPhone(page);
  await hint.waitFor({ state: 'hidden' });
});

it('has rows with a height of 36 pixels, and aligns ids to the right', async () => {
  const page = await openView('filter');
  const row = tableOf(page).locator('#row-0');
  expect((await row.boundingBox())?.height).toBe(36);
  const style = (selector: string, property: string) =>
    row
      .locator(selector)
      .evaluate((cell, name) => getComputedStyle(cell).getPropertyValue(name), property);
  expect(await style('.plant-name', 'font-size')).toBe('14px');
  expect(await style('.plant-id', 'text-align')).toBe('right');
  expect(await style('.plant-id', 'font-variant-numeric')).toBe('tabular-nums');
});

async function isOnScreen(page: Page, part: ReturnType<Page['locator']>): Promise<boolean> {
  const box = await part.boundingBox();
  const { height = 0 } = page.viewportSize() ?? {};
  return box !== null && box.y >= 0 && box.y + box.height <= height;
}

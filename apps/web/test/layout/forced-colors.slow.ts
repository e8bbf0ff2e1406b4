import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { tableOf } from '../fixtures/open-page.ts';
import { openView, type ViewName } from '../fixtures/views.ts';

const styleOf = (part: Locator, property: string) =>
  part.evaluate((element, name) => getComputedStyle(element).getPropertyValue(name), property);

const picture = (part: Locator) => part.screenshot({ animations: 'disabled' });

describe('with forced colors', () => {
  const open = (name: ViewName): Promise<Page> =>
    openView(name, (page) => page.emulateMedia({ forcedColors: 'active' }));

  it('shows the active row and the focus in high-contrast mode', async () => {
    const page = await open('filter');
    const row = tableOf(page).locator('#row-1');
    const before = await picture(row);
    await tableOf(page).focus();
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => styleOf(row, 'outline-style')).toBe('solid');
    expect((await picture(row)).equals(before)).toBe(false);
    expect(await styleOf(tableOf(page), 'outline-style')).toBe('solid');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Shift+Tab');
    const button = page.locator(':focus');
    expect(await styleOf(button, 'outline-style')).toBe('solid');
  });

  it('shows the selected rows in high-contrast mode', async () => {
    const page = await open('selected');
    const rows = tableOf(page).locator('.plant-row');
    expect(await styleOf(rows.nth(0), 'outline-style')).toBe('solid');
    expect(await styleOf(rows.nth(1), 'outline-style')).toBe('none');
  });

  it('shows the progress of an import in high-contrast mode', async () => {
    const page = await open('import running');
    const bar = page.getByRole('progressbar');
    const half = await picture(bar);
    await bar.evaluate((progress: HTMLProgressElement) => {
      progress.value = 0;
    });
    expect((await picture(bar)).equals(half)).toBe(false);
  });

  it('draws the edges of chips and tags in high-contrast mode', async () => {
    const page = await open('filter');
    const background = await styleOf(page.locator('body'), 'background-color');
    for (const part of [page.locator('.chip'), tableOf(page).locator('.tag > *').first()]) {
      expect(await styleOf(part, 'border-top-width')).toBe('1px');
      expect(await styleOf(part, 'border-top-color')).not.toBe(background);
    }
  });
});

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { firstVisible, openPage, tableOf } from '../../fixtures/open-page.ts';
import type { RunningConsole } from '../../fixtures/running-console.ts';
import { startWithPlants } from '../../fixtures/start-with-plants.ts';

/** With 36 px for a row, this number of rows is higher than `maxHeight` of the scroll window. */
const count = 30_000;

let server: RunningConsole;

beforeAll(async () => {
  server = await startWithPlants(count);
});

afterAll(() => server.stop());

/** Scrolls to the end of the loaded rows again and again, until all rows are loaded. */
async function scrollToEnd(page: Page): Promise<void> {
  const table = tableOf(page);
  await page.getByText('Plant 1', { exact: true }).waitFor();
  await table.evaluate(async (scroller) => {
    const frame = () => new Promise(requestAnimationFrame);
    while (scroller.getAttribute('aria-rowcount') === '-1') {
      scroller.scrollTop = scroller.scrollHeight;
      await frame();
    }
    // At the end, the scroll position no longer changes.
    for (let top = -1; top !== scroller.scrollTop; ) {
      top = scroller.scrollTop;
      scroller.scrollTop = scroller.scrollHeight;
      await frame();
      await frame();
    }
  });
}

it('scrolls to the last row and back, and renders only the rows on the screen', async () => {
  const page = await openPage(`${server.access.url}/#token=${server.access.token}`);
  await scrollToEnd(page);
  await tableOf(page).getByText(`Plant ${count}`, { exact: true }).waitFor();
  expect(await tableOf(page).getAttribute('aria-rowcount')).toBe(String(count + 1));
  // Only the rows near the screen are rendered, and every browser can show a table of this height.
  expect(await page.locator('.plant-row').count()).toBeLessThan(50);
  const height = await tableOf(page).evaluate(({ scrollHeight }) => scrollHeight);
  expect(height).toBeLessThan(1_100_000);

  await tableOf(page).focus();
  await page.keyboard.press('Home');
  await expect.poll(() => firstVisible(page)).toBe('Plant 1');
  await page.keyboard.press('End');
  await tableOf(page).getByText(`Plant ${count}`, { exact: true }).waitFor();
});

it('keeps the rows in their order while the user scrolls', async () => {
  const page = await openPage(`${server.access.url}/#token=${server.access.token}`);
  await page.getByText('Plant 1', { exact: true }).waitFor();
  for (let i = 0; i < 10; i++) {
    await tableOf(page).evaluate((scroller) => scroller.scrollBy(0, 36 * 100));
    await expect.poll(() => firstVisible(page)).toBe(`Plant ${100 * (i + 1) + 1}`);
  }
});

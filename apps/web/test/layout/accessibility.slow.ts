import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { asPhone, findField, openPage, waitForTitle } from '../fixtures/open-page.ts';
import { startWithPlants } from '../fixtures/start-with-plants.ts';
import { openView, viewNames } from '../fixtures/views.ts';

declare global {
  interface Window {
    axe: typeof axe;
  }
}

/** Returns axe's findings for two screen widths in light and dark colours, and an overflow of the page. */
async function findings(page: Page): Promise<string[]> {
  const found: string[] = [];
  await page.evaluate(axe.source);
  for (const width of [1280, 375]) {
    await page.setViewportSize({ width, height: 740 });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const { violations } = await page.evaluate(() =>
        window.axe.run({ resultTypes: ['violations'] }),
      );
      for (const { id, nodes } of violations) {
        found.push(`${colorScheme} ${width}: ${id}: ${nodes.map(({ html }) => html).join(' ')}`);
      }
    }
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - window.innerWidth,
    );
    if (overflow > 0) found.push(`${width}: wider by ${overflow} pixels`);
  }
  return found;
}

it.each(viewNames)(
  'has no violation, and has large controls on a phone, in the view "%s"',
  async (name) => {
    const page = await openView(name);
    expect(await findings(page)).toEqual([]);
    await asPhone(page);
    expect(await smallControls(page)).toEqual([]);
  },
);

const controls = 'button, a, input, textarea, summary, label:has(input), [role=option]';

/** Finds the controls that are too small for a finger. */
function smallControls(page: Page): Promise<object[]> {
  return page.evaluate(
    (controls) =>
      [...document.querySelectorAll(controls)]
        .filter((each) => each.checkVisibility() && !each.matches('.visually-hidden, label input'))
        .map((each) => ({ html: each.outerHTML, height: each.getBoundingClientRect().height }))
        .filter(({ height }) => height < 44),
    controls,
  );
}

it.each([
  ['no plants', 0, '0 plants', 'The store has no plants yet', '0 plants found'],
  ['a million plants', 1_000_001, '1,000,000+ plants', 'Plant 1', '1 plant found'],
])(
  'has no accessibility violation in a store of %s, and searches the whole store',
  async (_case, count, title, text, found) => {
    const { access, stop } = await startWithPlants(count);
    onTestFinished(stop);
    const page = await openPage(`${access.url}/#token=${access.token}`);
    await page.getByRole('heading', { name: title, level: 1 }).waitFor();
    await page.getByText(text, { exact: true }).waitFor();
    expect(await findings(page)).toEqual([]);
    // Only the last of a million plants has this name, so the search needs several requests.
    await findField(page).fill('NT 1000001');
    await waitForTitle(page, found);
  },
);

import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { asPhone, dialogOf, openPage, rowOf, searchField } from './fixtures/open-page.ts';
import {
  address,
  client,
  freshId,
  freshTag,
  numbered,
  openPlants,
  tokenWith,
  url,
} from './fixtures/shared-server.ts';

declare global {
  interface Window {
    axe: typeof axe;
  }
}

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });

/** The functions open the views of the console. */
const views: Readonly<Record<string, () => Promise<Page>>> = {
  async 'a list'() {
    const { page } = await openPlants(numbered(120));
    await rowOf(page, 'Plant 100').waitFor();
    return page;
  },
  async 'a plant'() {
    const { page } = await openPlants(numbered(3));
    await rowOf(page, 'Plant 002').getByRole('link').first().click();
    await button(page, 'Copy link').waitFor();
    return page;
  },
  async 'the question about checked rows'() {
    const { page } = await openPlants(numbered(3));
    await page.getByRole('checkbox', { name: 'Select all' }).check();
    await button(page, 'Delete').click();
    await page.getByRole('alertdialog').waitFor();
    return page;
  },
  async 'a search without a result'() {
    const { page } = await openPlants(['Fern']);
    await searchField(page).fill(`x${freshTag()}`);
    await page.getByRole('link', { name: 'Clear search' }).waitFor();
    return page;
  },
  async 'the form with errors'() {
    const { page } = await openPlants(['Fern']);
    await button(page, /^Add$/).click();
    await page.getByLabel('Name').fill('U+0000 is \u0000');
    await button(page, 'Add plant').click();
    await page.getByText('must not contain U+0000').waitFor();
    return page;
  },
  async 'the check of a file'() {
    const { page } = await openPlants(['Fern']);
    await button(page, 'Import').click();
    const buffer = Buffer.from('Nr;Name\n1;Grünlilie\nx;Bad\n', 'latin1');
    const file = { name: 'excel.csv', mimeType: 'text/csv', buffer };
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByText('1 ready, 1 not').waitFor();
    return page;
  },
  async 'the access tokens'() {
    await tokenWith('plants:read');
    const page = await openPage(address());
    await button(page, 'Access tokens').click();
    await button(page, /^Revoke/)
      .first()
      .waitFor();
    return page;
  },
  async 'a new access token'() {
    const page = await openPage(address());
    await button(page, 'Access tokens').click();
    await button(page, 'New token').click();
    await page.getByLabel('Who or what is it for?').fill(freshTag());
    await button(page, 'Create token').click();
    await button(page, 'Copy the link').waitFor();
    return page;
  },
  async 'the page to sign in'() {
    const page = await openPage(url);
    await page.getByLabel('Access token').waitFor();
    return page;
  },
};

/** Returns axe's findings at three widths, in light and dark colours, and the horizontal overflow. */
async function findings(page: Page): Promise<string[]> {
  const found: string[] = [];
  await page.evaluate(axe.source);
  for (const width of [360, 768, 1440]) {
    await page.setViewportSize({ width, height: 800 });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const { violations } = await page.evaluate(() =>
        window.axe.run({ resultTypes: ['violations'] }),
      );
      for (const { id, nodes } of violations) {
        found.push(`${colorScheme} ${width}: ${id}: ${nodes.map(({ html }) => html).join(' ')}`);
      }
    }
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (overflow > 0) found.push(`${width}: the page is wider by ${overflow} pixels`);
  }
  return found;
}

const controls = 'button, a, input, textarea, label:has(input)';

/** Finds controls that are too small for a finger. A name may be small, because a tap on the row is enough. */
const smallControls = (page: Page) =>
  page.evaluate(
    (controls) =>
      [...document.querySelectorAll(controls)]
        .filter(
          (each) => each.checkVisibility() && !each.matches('label input, td:nth-child(2) > a'),
        )
        .map((each) => ({ html: each.outerHTML, height: each.getBoundingClientRect().height }))
        .filter(({ height }) => height > 1 && height < 44),
    controls,
  );

it.each(Object.keys(views))('the view "%s" passes axe and has no small control', async (name) => {
  const page = await views[name]?.();
  if (!page) throw new Error(`no view ${name}`);
  expect(await findings(page)).toEqual([]);
  await asPhone(page);
  await expect.poll(() => smallControls(page)).toEqual([]);
});

it('a user can add, find, open and delete a plant with only the keyboard', async () => {
  const id = freshId();
  const page = await openPage(address());
  await button(page, /^(Add|Add a plant)$/)
    .first()
    .waitFor();
  const press = page.keyboard.press.bind(page.keyboard);
  const type = page.keyboard.insertText.bind(page.keyboard);
  const tabTo = async (name: RegExp) => {
    const focused = () =>
      page.evaluate(() => {
        const { activeElement: element } = document;
        const label = element?.id && document.querySelector(`label[for="${element.id}"]`);
        return element?.getAttribute('aria-label') ?? (label || element)?.textContent ?? '';
      });
    for (let presses = 0; !name.test(await focused()); presses++) {
      expect(presses, `Tab reaches ${name}`).toBeLessThan(20);
      await press('Tab');
    }
    const outline = await page.evaluate(
      () => document.activeElement && getComputedStyle(document.activeElement).outlineStyle,
    );
    expect(outline, `the focus on ${name} is visible`).not.toBe('none');
  };

  await tabTo(/^Add( a plant)?$/);
  await press('Enter');
  await dialogOf(page, 'Add a plant').waitFor();
  await tabTo(/^Name$/);
  await type('By keyboard');
  await tabTo(/^Number$/);
  await press('Control+a');
  await type(String(id));
  await press('Enter');
  await page.getByText('Added “By keyboard”').waitFor();

  await press('/');
  await type(String(id));
  await press('Enter');
  const plant = dialogOf(page, 'By keyboard');
  await plant.waitFor();
  await tabTo(/^Delete$/);
  await press('Enter');
  await page.getByRole('alertdialog').waitFor();
  await tabTo(/^Delete 1 plant$/);
  await press('Enter');
  await page.getByText('Deleted 1 plant').waitFor();
  await expect(client.getPlant.query({ id })).rejects.toThrow('no plant has the id');
});

it('the focus returns to the row when the user closes a plant', async () => {
  const { page } = await openPlants(numbered(3));
  const link = rowOf(page, 'Plant 002').getByRole('link').first();
  await link.focus();
  await page.keyboard.press('Enter');
  await dialogOf(page, 'Plant 002').waitFor();
  await page.keyboard.press('Escape');
  await expect.poll(() => link.evaluate((node) => node === document.activeElement)).toBe(true);
});

it('a screen reader announces the number of plants and the result of a search', async () => {
  const { page } = await openPlants(['Fern', 'Hoya']);
  const heard = page.getByRole('status').filter({ hasText: /plants|found/ });
  await heard.getByText('2 plants').waitFor({ state: 'attached' });
  await searchField(page).fill('fern');
  await heard.getByText('1 found').waitFor({ state: 'attached' });
});

it('on a phone, the user can close a plant, and finds Export behind the button More', async () => {
  const { page } = await openPlants(numbered(3));
  await asPhone(page);
  await rowOf(page, 'Plant 002').getByRole('link').first().click();
  await dialogOf(page, 'Plant 002').getByRole('button', { name: 'Close' }).click();
  await button(page, 'More').click();
  await button(page, 'Export').click();
  await dialogOf(page, 'Export').waitFor();
});

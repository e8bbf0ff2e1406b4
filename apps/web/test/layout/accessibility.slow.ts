import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { dropFiles, importFiles } from '../fixtures/drop-files.ts';
import { freshId, freshTag } from '../fixtures/fresh.ts';
import { filterByTag, findField, openPage, tableOf } from '../fixtures/open-page.ts';
import { sharedServer, sharedServers } from '../fixtures/shared-servers.ts';

/** What axe finds that keeps somebody from using the page. */
async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => window.axe.run({ resultTypes: ['violations'] }));
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

declare global {
  interface Window {
    axe: typeof axe;
  }
}

const views = {
  async token(page: Page) {
    await page.getByRole('button', { name: 'Forget token' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Forget token' }).click();
    await page.getByLabel('Access token').waitFor();
  },
  table: async () => {},
  async add(page: Page) {
    await page.getByRole('button', { name: 'Add a plant' }).click();
    await page.getByLabel('Id', { exact: true }).fill('not an id');
    await page.getByText('must be a whole number').waitFor();
  },
  async details(page: Page) {
    await tableOf(page).locator('#row-0 .plant-name').click();
    await page.getByRole('button', { name: 'Delete …' }).waitFor();
  },
  async selected(page: Page) {
    await tableOf(page).getByRole('checkbox').first().check();
    await page.getByText('1 plant selected').waitFor();
  },
  async suggestions(page: Page) {
    await findField(page).fill('4096');
    await page.getByRole('option', { name: 'Go to id 4096' }).waitFor();
  },
  async export(page: Page) {
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('button', { name: 'Save as CSV' }).waitFor();
  },
  async question(page: Page) {
    await views.details(page);
    await page.getByRole('button', { name: 'Delete …' }).click();
    await page.getByRole('alertdialog').waitFor();
  },
  async file(page: Page) {
    await importFiles(page, { 'a.csv': 'id,name\n1,\n2,"a\n3,b\nc"\n' });
    await page.getByRole('region', { name: 'Rejected rows' }).waitFor();
    await page.getByText('check the quotes').waitFor();
  },
  async firstLook(page: Page) {
    await dropFiles(page, { 'a.csv': 'id,name,note,created_at\n1,x,,2020-01-01\n2,,,\n' });
    await page.getByText('are not kept').waitFor();
  },
  async requests(page: Page) {
    await page.getByRole('button', { name: 'Requests' }).click();
    await page.locator('summary').first().click();
    await page.getByText('Copy curl').first().waitFor();
  },
};

const server = sharedServer('PGlite');

describe.each(Object.entries(views))('in the view %s', (_name, open) => {
  it('axe finds nothing serious, light and dark, on a desktop and on a phone', async () => {
    const tag = freshTag();
    await server.client.createPlant.mutate({ id: freshId(), name: 'Monstera deliciosa', tag });
    const page = await openPage(server.address());
    await page.getByText('This token may').waitFor();
    await filterByTag(page, tag);
    await expect.poll(() => tableOf(page).locator('.plant-row').count()).toBe(1);
    await open(page);
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 740 });
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await seriousFindings(page), `${colorScheme}, ${width} pixels`).toEqual([]);
      }
      const overflow = () => document.documentElement.scrollWidth - window.innerWidth;
      expect(await page.evaluate(overflow), `overflow at ${width} pixels`).toBeLessThanOrEqual(0);
    }
  });
});

describe.each(sharedServers)('on $database', ({ address, client }) => {
  it('adds, finds, shows and deletes a plant by keyboard alone', async () => {
    const id = freshId();
    const page = await openPage(address());
    await page.getByText('This token may').waitFor();
    const press = page.keyboard.press.bind(page.keyboard);
    const type = page.keyboard.insertText.bind(page.keyboard);
    const tabTo = async (name: string) => {
      const focused = () =>
        page.evaluate(() => {
          const { activeElement: element } = document;
          const label = element?.id && document.querySelector(`label[for="${element.id}"]`);
          const text = (label || element)?.textContent;
          return element?.getAttribute('aria-label') ?? text ?? '';
        });
      for (let presses = 0; (await focused()) !== name; presses++) {
        expect(presses, `Tab reaches ${name}`).toBeLessThan(20);
        await press('Tab');
      }
    };

    await tabTo('Add a plant');
    await press('Enter');
    await tabTo('Name');
    await type('By keyboard');
    await tabTo('Id');
    await press('Control+a');
    await type(String(id));
    await press('Enter');
    await page.getByText('Added “By keyboard”').waitFor();

    await tabTo('Find an id or a tag');
    await type(String(id));
    await press('Enter');
    await tableOf(page).getByText('By keyboard').waitFor();
    await tabTo('Plants');
    await press('Enter');
    await page.getByRole('dialog', { name: 'By keyboard' }).waitFor();
    await tabTo('Delete …');
    await press('Enter');
    await page.getByRole('alertdialog').waitFor();
    await tabTo('Delete');
    await press('Enter');
    await page.getByText(`Deleted the plant ${id}`).waitFor();
    await expect(client.getPlant.query({ id })).rejects.toThrow('no plant has the id');
  });
});

import { formatJson } from '@plant-store/schemas';
import { describe, expect, it } from 'vitest';
import { freshId, freshTag } from '../../fixtures/fresh.ts';
import { filterByTag, openPage, tableOf } from '../../fixtures/open-page.ts';
import { sharedServers } from '../../fixtures/shared-servers.ts';

const greatest = 2n ** 63n - 1n;
const least = -(2n ** 63n);

describe.each(sharedServers)('on $database', ({ address, client }) => {
  it('shows only the plants with a tag', async () => {
    const [tag, other] = [freshTag(), freshTag()];
    await client.createPlant.mutate({ id: freshId(), name: 'Tagged', tag });
    await client.createPlant.mutate({ id: freshId(), name: 'Of another tag', tag: other });
    const page = await openPage(address());
    await filterByTag(page, tag);
    await expect.poll(() => tableOf(page).locator('.plant-row').count()).toBe(1);
    await tableOf(page).getByText('Tagged').waitFor();

    await filterByTag(page, 'a tag of no plant');
    await page.getByText('No plant has the tag “a tag of no plant”').waitFor();
  });

  it.each([greatest, least])('goes to the id %s, exactly', async (id) => {
    await client.createPlant.mutate({ id, name: 'At the end' });
    const page = await openPage(address());
    await page.getByRole('searchbox', { name: 'Go to id' }).fill(String(id));
    await page.keyboard.press('Enter');
    const first = tableOf(page).locator('#row-0');
    await expect.poll(() => first.locator('.plant-id').textContent()).toBe(String(id));
    await client.deletePlant.mutate({ id });
  });

  it('says at once that a text is not an id', async () => {
    const page = await openPage(address());
    const field = page.getByRole('searchbox', { name: 'Go to id' });
    for (const text of ['1e3', '007']) {
      await field.fill(text);
      await page.getByText('must be a whole number').waitFor();
    }
    await field.fill('9223372036854775808');
    await page.getByText('must be from -9223372036854775808').waitFor();
  });

  it('shows the whole of a plant, with its time', async () => {
    const [id, tag] = [freshId(), freshTag()];
    const name = `A long name ${'and so on '.repeat(40)}to the end`;
    await client.createPlant.mutate({ id, name, tag });
    const { createdAt } = await client.getPlant.query({ id });
    const page = await openPage(address());
    await filterByTag(page, tag);
    await tableOf(page).locator('#row-0').click();
    const details = page.getByRole('dialog', { name: 'Plant' });
    for (const text of [String(id), name, tag, createdAt.toISOString()]) {
      await details.getByText(text, { exact: true }).waitFor();
    }
  });

  it('shows any name as it is, and runs no markup in it', async () => {
    const tag = freshTag();
    const name = '<img src=x onerror=alert(1)> 🪴 \u202eright to left';
    await client.createPlant.mutate({ id: freshId(), name, tag });
    const page = await openPage(address());
    await filterByTag(page, tag);
    await tableOf(page).getByText(name, { exact: true }).waitFor();
  });

  it('shows a plant that another client created, after the next look', async () => {
    const tag = freshTag();
    const page = await openPage(address());
    await filterByTag(page, tag);
    await page.getByText(`No plant has the tag`).waitFor();
    await client.createPlant.mutate({ id: freshId(), name: 'From elsewhere', tag });
    await page.reload();
    await filterByTag(page, tag);
    await tableOf(page).getByText('From elsewhere').waitFor();
  });

  it('is read with the arrow keys, from the first row to the last', async () => {
    const tag = freshTag();
    const ids = Array.from({ length: 60 }, freshId);
    await Promise.all(
      ids.map((id) => client.createPlant.mutate({ id, name: formatJson(id), tag })),
    );
    const page = await openPage(address());
    await filterByTag(page, tag);
    const table = tableOf(page);
    await table.getByText(String(ids[0])).first().waitFor();
    const activeText = () =>
      table.evaluate((node) => {
        const row = document.getElementById(node.getAttribute('aria-activedescendant') ?? '');
        return row?.querySelector('.plant-name')?.textContent;
      });
    await table.focus();
    await page.keyboard.press('ArrowDown');
    await expect.poll(activeText).toBe(String(ids[1]));
    await page.keyboard.press('End');
    await expect.poll(activeText).toBe(String(ids.at(-1)));
    await page.keyboard.press('Home');
    await expect.poll(activeText).toBe(String(ids[0]));
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Plant' }).waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => table.evaluate((node) => node === document.activeElement)).toBe(true);
  });
});

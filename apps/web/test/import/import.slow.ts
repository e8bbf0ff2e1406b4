import { formatJson } from '@plant-store/schemas';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { freshId, freshTag } from '../fixtures/fresh.ts';
import { filterByTag, openPage, tableOf } from '../fixtures/open-page.ts';
import { sharedServers } from '../fixtures/shared-servers.ts';

/** Drops a file on the page as a browser does. */
async function drop(page: Page, name: string, content: string): Promise<void> {
  await page.getByRole('button', { name: 'Add a file' }).waitFor();
  const dataTransfer = await page.evaluateHandle(
    ([name, content]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([content], name));
      return transfer;
    },
    [name, content] as const,
  );
  await page.dispatchEvent('body', 'dragover', { dataTransfer });
  await page.getByText('Drop the file to add its plants').waitFor();
  await page.dispatchEvent('body', 'drop', { dataTransfer });
}

describe.each(sharedServers)('on $database', ({ address, client, url }) => {
  const withTag = async (tag: string) =>
    (await client.listPlants.query({ tag, limit: 1000 })).plants;

  it('adds the plants of an NDJSON file that is dropped on the page', async () => {
    const tag = freshTag();
    const ids = [...Array.from({ length: 300 }, freshId), 2n ** 63n - 2n];
    const lines = ids.map((id) => formatJson({ id, name: `Plant ${id}`, tag }));
    const page = await openPage(address());
    await drop(page, 'plants.ndjson', lines.join('\n'));
    await page.getByText('301 added, 0 rejected').waitFor();
    await page.getByText('Finished plants.ndjson').waitFor();
    await page.getByText('100%').waitFor();
    expect((await withTag(tag)).map(({ id }) => id)).toEqual(ids);
  });

  it('adds the plants of a CSV file that is chosen, quotes and empty fields included', async () => {
    const [tag, id, other] = [freshTag(), freshId(), freshId()];
    const text = `id,name,tag\r\n${id},"A ""quoted"" name,\r\nof two lines",${tag}\r\n${other},x,""\r\n`;
    const page = await openPage(address());
    await page.getByRole('button', { name: 'Add a file' }).click();
    await page
      .getByLabel('File with plants')
      .setInputFiles({ name: 'plants.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
    await page.getByText('2 added, 0 rejected').waitFor();
    expect(await withTag(tag)).toMatchObject([{ id, name: 'A "quoted" name,\r\nof two lines' }]);
    expect(await client.getPlant.query({ id: other })).toMatchObject({ name: 'x', tag: '' });
  });

  it('shows the first plants at once, on the whole screen', async () => {
    const tag = freshTag();
    const lines = Array.from({ length: 40 }, () => formatJson({ id: freshId(), name: 'x', tag }));
    const page = await openPage(address(), { height: 1200 });
    await filterByTag(page, tag);
    await page.getByText(`No plant has the tag “${tag}”`).waitFor();
    await drop(page, 'plants.ndjson', lines.join('\n'));
    await page.getByText('40 added, 0 rejected').waitFor();
    await expect.poll(() => tableOf(page).locator('.plant-name').count()).toBeGreaterThan(20);
  });

  it('lists what is rejected and why, and adds the others', async () => {
    const [tag, taken] = [freshTag(), freshId()];
    await client.createPlant.mutate({ id: taken, name: 'The owner of the id' });
    const lines = [
      formatJson({ id: freshId(), name: 'Good', tag }),
      '{"id":1.5,"name":"A fraction"}',
      'not JSON',
      formatJson({ id: taken, name: 'Too late' }),
    ];
    const page = await openPage(address());
    await drop(page, 'plants.jsonl', lines.join('\n'));
    await page.getByText('1 added, 3 rejected').waitFor();
    const rows = page.getByRole('region', { name: 'Rejected rows' }).getByRole('row');
    await expect
      .poll(() => rows.allTextContents())
      .toEqual([
        'RowReason',
        expect.stringMatching(/^2id must be an integer/),
        expect.stringMatching(/^3is not JSON/),
        expect.stringMatching(/^4id \d+ belongs to another plant/),
      ]);
    expect(await withTag(tag)).toHaveLength(1);
  });

  it('sends ten plants in a request, several requests at once', async () => {
    const tag = freshTag();
    const lines = Array.from({ length: 200 }, () => formatJson({ id: freshId(), name: 'x', tag }));
    const page = await openPage(address());
    const sizes: number[] = [];
    page.on('request', (request) => {
      const [, calls] = /\/trpc\/([^?]*createPlant[^?]*)/.exec(request.url()) ?? [];
      if (calls && !calls.includes('deletePlant')) sizes.push(calls.split(',').length);
    });
    await drop(page, 'plants.ndjson', lines.join('\n'));
    await page.getByText('200 added, 0 rejected').waitFor();
    expect(sizes).toEqual(Array(20).fill(10));
  });

  it('adds large plants that no single request could hold together', async () => {
    const tag = freshTag();
    const name = 'x'.repeat(200_000);
    const lines = Array.from({ length: 10 }, () => formatJson({ id: freshId(), name, tag }));
    const page = await openPage(address());
    await drop(page, 'large.ndjson', lines.join('\n'));
    await page.getByText('10 added, 0 rejected').waitFor();
  });

  it('goes on when somebody drops another file, and does not add that one', async () => {
    const tag = freshTag();
    const page = await openPage(address());
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(`${url}/trpc/createPlant*`, async (route) => {
      if (route.request().postData()?.includes(tag)) await released;
      await route.continue();
    });
    await drop(page, 'first.ndjson', formatJson({ id: freshId(), name: 'First', tag }));
    await page.getByText('Adding the plants of first.ndjson').waitFor();
    await page.keyboard.press('Escape');
    await drop(page, 'second.ndjson', formatJson({ id: freshId(), name: 'Second', tag }));
    await page.getByText('second.ndjson is not added').waitFor();
    release();
    await page.getByText('Finished first.ndjson').waitFor();
    expect(await withTag(tag)).toMatchObject([{ name: 'First' }]);
  });

  it('ends when somebody cancels it, and says how far it came', async () => {
    const tag = freshTag();
    const lines = Array.from({ length: 900 }, () => formatJson({ id: freshId(), name: 'x', tag }));
    const page = await openPage(address());
    let sent = 0;
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(`${url}/trpc/createPlant*`, async (route) => {
      if (++sent > 8) await released;
      await route.continue();
    });
    await drop(page, 'plants.ndjson', lines.join('\n'));
    await expect.poll(() => sent).toBeGreaterThan(8);
    await page.getByRole('button', { name: 'Cancel' }).click();
    release();
    await page.getByText('Cancelled plants.ndjson').waitFor();
    const [, added] = /(\d+) added/.exec(await page.locator('.import-counts').innerText()) ?? [];
    expect(Number(added)).toBeLessThan(200);
    expect(await withTag(tag)).toHaveLength(Number(added));
  });

  it.each([
    ['plants.txt', 'x', 'The format of plants.txt is unknown'],
    ['plants.csv', 'a,b\n1,2\n', 'must have the columns id and name'],
  ])('says why it cannot read %s', async (name, content, reason) => {
    const page = await openPage(address());
    await drop(page, name, content);
    await page.getByRole('alert').getByText(reason).waitFor();
  });
});

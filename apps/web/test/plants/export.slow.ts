import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { freshId, freshTag } from '../fixtures/fresh.ts';
import { filterByTag, openPage } from '../fixtures/open-page.ts';
import { sharedServers } from '../fixtures/shared-servers.ts';

describe.each(sharedServers)('on $database', ({ address, client }) => {
  it('saves exactly the plants of the filter, as CSV and as NDJSON', async () => {
    const [ids, tag] = [Array.from({ length: 1_500 }, freshId), `a, "${freshTag()}"`];
    for (const start of [0, 1_000]) {
      const plants = ids.slice(start, start + 1_000).map((id) => ({ id, name: 'Hoya', tag }));
      await client.createPlants.mutate({ plants });
    }
    const { createdAt } = await client.getPlant.query({ id: ids[0] ?? 0n });
    const page = await openPage(address());
    await filterByTag(page, tag);
    await page.getByRole('button', { name: 'Export' }).click();
    const save = async (format: string) => {
      const download = page.waitForEvent('download');
      await page.getByRole('button', { name: `Save as ${format}` }).click();
      const file = await download;
      await page.getByText('Saved 1,500 plants').waitFor();
      expect(file.suggestedFilename()).toBe(`plants.${format.toLowerCase()}`);
      return (await text(await file.createReadStream())).trimEnd().split('\n');
    };
    const csv = await save('CSV');
    expect(csv).toHaveLength(1_501);
    const quoted = `"${tag.replaceAll('"', '""')}"`;
    expect(csv[1]).toBe(`${ids[0]},Hoya,${quoted},${createdAt.toISOString()}`);
    const lines = await save('NDJSON');
    expect(lines.map((line) => BigInt(/"id":(\d+)/.exec(line)?.[1] ?? 0))).toEqual(ids);
  });
});

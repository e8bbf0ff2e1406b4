import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plant-store-memory-'));
});

afterAll(() => rm(directory, { recursive: true }));

/** Opens the store and creates plants in a process. Returns the peak memory of the process in MB. */
async function peakOfStore(): Promise<number> {
  const index = new URL('../../src/index.ts', import.meta.url).href;
  const program = `
    import { openPlantStore } from ${JSON.stringify(index)};
    const store = await openPlantStore({ dataDirectory: ${JSON.stringify(directory)} });
    for (let id = 1; id <= 300; id++) await store.create({ id, name: 'Monstera deliciosa' });
    await store.close();
    console.log(process.resourceUsage().maxRSS);`;
  // Without `--max-semi-space-size`, the peak memory could contain up to 100 MB of garbage.
  const args = ['--max-semi-space-size=1', '--input-type=module', '--eval', program];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return Number(stdout) / 1024;
}

it('uses at most 700 MB of memory to create a database, and 350 MB to open the database again', async () => {
  expect(await peakOfStore()).toBeLessThan(700);
  expect(await peakOfStore()).toBeLessThan(350);
});

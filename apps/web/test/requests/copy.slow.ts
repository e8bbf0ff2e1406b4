import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { tableOf } from '../fixtures/open-page.ts';
import { openPlants, token } from '../fixtures/shared-server.ts';

const run = promisify(execFile);
const web = fileURLToPath(new URL('../..', import.meta.url));

const env = { ...process.env, PLANT_STORE_TOKEN: token };
const name = `A 'quoted' $name with "all" \`kinds\``;

async function openRequests() {
  const opened = await openPlants([name]);
  const { page } = opened;
  await tableOf(page).getByText(name).click();
  await page.getByRole('dialog').getByRole('heading', { name }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Requests' }).click();
  return opened;
}

async function copy(page: Page, request: string, what: string): Promise<string> {
  const item = page.getByRole('listitem').filter({ hasText: request }).first();
  if (!(await item.getByText(`Copy ${what}`).isVisible())) await item.locator('summary').click();
  await item.getByRole('button', { name: `Copy ${what}` }).click();
  await item.getByText('Copied').waitFor();
  return page.evaluate(() => navigator.clipboard.readText());
}

// The copied command needs a POSIX shell.
it.runIf(process.platform !== 'win32')(
  'copies each request as a curl command that works in a shell',
  async () => {
    const { id, tag, page } = await openRequests();
    const get = await run('sh', ['-c', await copy(page, `getPlantid ${id}`, 'curl')], { env });
    expect(get.stdout).toContain(`"id":${id},"name":${JSON.stringify(name)}`);
    const list = await run('sh', ['-c', await copy(page, tag, 'curl')], { env });
    expect(list.stdout).toContain(`{"plants":[{"id":${id},`);
  },
);

it('copies each request as a TypeScript program that works', async () => {
  const { id, page } = await openRequests();
  const program = await copy(page, `getPlantid ${id}`, 'TypeScript');
  const directory = await mkdtemp(join(web, 'dist', 'copied-'));
  await writeFile(join(directory, 'get.ts'), program);
  const { stdout } = await run(process.execPath, [join(directory, 'get.ts')], { env });
  await rm(directory, { recursive: true });
  expect(stdout).toContain(`id: ${id}n`);
});

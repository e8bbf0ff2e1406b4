import { cpSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPlantStoreClient } from '@plant-store/client';
import { startProcess } from '@plant-store/test-setup';
import { expect, inject, it } from 'vitest';
import { findField, openPage, waitForTitle } from '../fixtures/open-page.ts';

it('accepts the code of the printed address only once, and keeps the code and the token out of the log', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-first-run-'));
  cpSync(inject('dataDirectory'), directory, { recursive: true });
  const server = startProcess({ PLANT_STORE_DATA_DIR: directory });
  const [address = ''] = await server.printed(/http\S+\/#code=\S+/);
  await server.printed(/Add a plant/);
  const isLog = (line: string) => line.startsWith('{');
  const lines = () => server.output().split('\n');
  expect(lines().find((line) => !isLog(line) && line.includes('http'))).toContain(address);

  const page = await openPage(address);
  await page.getByText('The store has no plants yet').waitFor();
  await page.getByText('This token may create, read, and delete plants').waitFor();
  const token = (await readFile(join(directory, 'token'), 'utf8')).trim();
  expect(await page.evaluate(() => sessionStorage.getItem('plant-store.token'))).toBe(token);
  expect(page.url()).not.toContain('code=');
  const log = () => lines().filter(isLog).join('\n');
  await expect.poll(log).toMatch(/"path":"\/trpc\/[^"]*listPlants/);
  const [, code = ''] = address.split('#code=');
  for (const secret of [token, code]) expect(log()).not.toContain(secret);

  const client = createPlantStoreClient({ url: new URL(address).origin, token });
  const plants = ['Monstera deliciosa', 'Ficus lyrata'].map((name, i) => ({ id: BigInt(i), name }));
  await client.createPlants.mutate({ plants });
  await findField(page).fill('MONST');
  await waitForTitle(page, '1 plant found');

  const second = await page.context().newPage();
  await second.goto(address);
  await second.getByRole('alert').getByText('used or over ten minutes old').waitFor();
  await second.getByLabel('Access token').fill(token);
  await second.getByRole('button', { name: 'Open' }).click();
  await second.getByText('Connected').waitFor();

  server.child.kill('SIGKILL');
  await server.ended();
  await rm(directory, { recursive: true });
});

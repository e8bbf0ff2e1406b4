import { formatJson } from '@plant-store/schemas';
import { afterAll, beforeAll, inject, it } from 'vitest';
import { dropFiles } from '../fixtures/drop-files.ts';
import { freshId } from '../fixtures/fresh.ts';
import { filterByTag, openPage, tableOf } from '../fixtures/open-page.ts';
import { type RunningConsole, startConsole } from '../fixtures/running-console.ts';

let server: RunningConsole;
let address: string;

beforeAll(async () => {
  server = await startConsole(inject('postgresUrl'), async (store) => {
    await store.create({ id: 1n, name: 'Monstera deliciosa', tag: 'Araceae' });
    return {};
  });
  address = `${server.access.url}/#token=${server.access.token}`;
});

afterAll(() => server.stop());

it('says when the server is down, keeps the table, and recovers by itself', async () => {
  const page = await openPage(address);
  await tableOf(page).getByText('Monstera deliciosa').waitFor();
  await server.pause();
  await tableOf(page).getByText('Monstera deliciosa').click();
  await page.getByText('The server does not respond').waitFor();
  await page.keyboard.press('Escape');
  await filterByTag(page, 'Araceae');
  await page.getByText('The plants cannot be shown').waitFor();

  await server.resume();
  await page.getByText('Connected').waitFor();
  await tableOf(page).getByText('Monstera deliciosa').waitFor();
});

it('continues an import when the server is up again', async () => {
  const lines = Array.from({ length: 400 }, () => formatJson({ id: freshId(), name: 'x' }));
  const page = await openPage(address);
  await dropFiles(page, { 'plants.ndjson': lines.join('\n') });
  await server.pause();
  await page.getByRole('button', { name: 'Add the plants' }).click();
  await page.getByText('Waiting for the server').waitFor();
  await server.resume();
  await page.getByText('400 added, 0 already there').waitFor();
});

import { createPlantStoreClient, type PlantStoreClient } from '@plant-store/client';
import { formatJson } from '@plant-store/schemas';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { dropFiles } from '../fixtures/drop-files.ts';
import {
  filterByTag,
  findField,
  namesOf,
  openPage,
  tableOf,
  waitForTitle,
} from '../fixtures/open-page.ts';
import { type RunningConsole, startConsole } from '../fixtures/running-console.ts';
import { freshId } from '../fixtures/shared-server.ts';

let server: RunningConsole;
let client: PlantStoreClient;

beforeAll(async () => {
  const postgresUrl = inject('postgresUrl');
  server = await startConsole(postgresUrl, async (store) => {
    await store.create({ id: 10n, name: 'Monstera deliciosa' });
    await store.create({ id: 20n, name: 'Ficus lyrata' });
    return {};
  });
  client = createPlantStoreClient(server.access);
});

afterAll(() => server.stop());

const open = () => openPage(`${server.access.url}/#token=${server.access.token}`);
const live = (page: Page) => page.locator('[data-feed="live"]').waitFor();

it('says that the server does not respond when the connection is dead', async () => {
  const page = await open();
  await page.getByText('Connected').waitFor();
  await page.route('**/readyz', () => {}); // The request never gets a response.
  await page.getByText('The server does not respond').waitFor();
  await page.unroute('**/readyz');
  await page.getByText('Connected').waitFor();
});

it('shows changes that were made while the server was down', async () => {
  const page = await open();
  await live(page);
  await waitForTitle(page, '2 plants');
  await server.pause();
  await page.getByText('The server does not respond').waitFor();
  expect(await namesOf(page)).toEqual(['Monstera deliciosa', 'Ficus lyrata']);
  await server.changeStore({
    async store(store) {
      await store.create({ id: 15n, name: 'Hoya carnosa' });
      await store.create({ id: 30n, name: 'Pilea peperomioides' });
      await store.delete(20n);
    },
  });
  await server.resume();
  await tableOf(page).getByText('Pilea peperomioides').waitFor();
  await waitForTitle(page, '3 plants');
  await expect
    .poll(() => namesOf(page))
    .toEqual(['Monstera deliciosa', 'Hoya carnosa', 'Pilea peperomioides']);
  await page.getByText('Connected').waitFor();

  await client.createPlant.mutate({ id: 40n, name: 'Ceropegia woodii' });
  await tableOf(page).getByText('Ceropegia woodii').waitFor();
});

it('lists the plants again after many missed changes', async () => {
  const page = await open();
  await live(page);
  await waitForTitle(page, '4 plants');
  await server.pause();
  await page.locator('[data-feed="interrupted"]').waitFor();
  const missed = Array.from({ length: 1_500 }, (_, i) => ({
    id: BigInt(100 + i),
    name: 'Missed',
  }));
  await server.changeStore({
    store: (store) =>
      Promise.all([missed.slice(0, 750), missed.slice(750)].map((part) => store.createMany(part))),
  });
  const list = page.waitForRequest((request) => request.url().includes('listPlants'));
  await server.resume();
  await list;
  await waitForTitle(page, '1,504 plants');
  await tableOf(page).and(page.locator('[aria-rowcount="-1"]')).waitFor();
});

it('lists the plants again when the feed no longer has the missed changes', async () => {
  const page = await open();
  await live(page);
  await tableOf(page).getByText('Monstera deliciosa').waitFor();
  await server.pause();
  await server.changeStore({
    sql: 'truncate plants',
    store: async (store) => void (await store.create({ id: 1n, name: 'Only' })),
  });
  await server.resume();
  await tableOf(page).getByText('Only').waitFor();
  await waitForTitle(page, '1 plant');
  await expect.poll(() => namesOf(page)).toEqual(['Only']);
  await client.createPlant.mutate({ id: 2n, name: 'Another' });
  await tableOf(page).getByText('Another').waitFor();
});

it('says that the feed is off, and shows changes after a refresh', async () => {
  await server.pause();
  await server.changeStore({ sql: 'delete from plant_feed' });
  await server.resume();
  const page = await open();
  await page.getByText('Refresh the list to see the changes of other clients').waitFor();
  await page.getByText('Connected').waitFor();
  await waitForTitle(page, '2 plants');
  await client.createPlant.mutate({ id: 3n, name: 'Third' });
  expect(await namesOf(page)).toEqual(['Only', 'Another']);
  await page.getByRole('button', { name: 'Refresh' }).click();
  await tableOf(page).getByText('Third').waitFor();
  await waitForTitle(page, '3 plants');

  // After the user has deleted a plant, the console refreshes the list.
  await tableOf(page).getByText('Third').click();
  await page.getByRole('button', { name: 'Delete …' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await waitForTitle(page, '2 plants');
  await tableOf(page).getByText('Third').waitFor({ state: 'detached' });
});

it('shows an error in place of the list while the server is down, and shows the list later', async () => {
  const page = await open();
  await tableOf(page).getByText('Another').waitFor();
  await server.pause();
  await tableOf(page).getByText('Another').click();
  await page.getByText('The server does not respond').waitFor();
  await page.keyboard.press('Escape');
  await filterByTag(page, 'Araceae');
  await page.getByText('The plants cannot be shown').waitFor();
  await findField(page).fill('zebrina');
  await waitForTitle(page, 'Plants');
  await findField(page).fill('');

  await server.resume();
  await page.getByText('Connected').waitFor();
  await page.getByText('No plants with the tag “Araceae”').waitFor();
});

it('continues an import when the server is up again', async () => {
  const lines = Array.from({ length: 400 }, () => formatJson({ id: freshId(), name: 'x' }));
  const page = await open();
  await dropFiles(page, { 'plants.ndjson': lines.join('\n') });
  await server.pause();
  await page.getByRole('button', { name: 'Add the plants' }).click();
  await page.getByText('Waiting for the server').waitFor();
  await server.resume();
  await page.getByRole('button', { name: '400 added' }).waitFor();
});

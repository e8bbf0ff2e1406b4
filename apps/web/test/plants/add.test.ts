import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { findField, openPage, tableOf, takeFaults } from '../fixtures/open-page.ts';
import { address, client, freshId, freshTag, token } from '../fixtures/shared-server.ts';

async function openForm(): Promise<Page> {
  const page = await openPage(address());
  await page.getByRole('button', { name: 'Add a plant' }).click();
  await page.getByRole('dialog', { name: 'Add a plant' }).waitFor();
  return page;
}
const fields = (page: Page) => {
  const form = page.getByRole('dialog', { name: 'Add a plant' });
  return {
    id: form.getByLabel('Id', { exact: true }),
    name: form.getByLabel('Name'),
    tag: form.getByLabel('Tag'),
    add: form.getByRole('button', { name: 'Add plant' }),
  };
};

async function add(page: Page, name: string, id = freshId()): Promise<void> {
  await fields(page).name.fill(name);
  await fields(page).id.fill(String(id));
  await fields(page).add.click();
}

it('adds a plant, and offers a button that shows the plant', async () => {
  const [id, tag] = [freshId(), freshTag()];
  const page = await openForm();
  await fields(page).tag.fill(tag);
  await add(page, 'Monstera deliciosa', id);
  await page.getByText('Added “Monstera deliciosa”').waitFor();
  expect(await client.getPlant.query({ id })).toMatchObject({ name: 'Monstera deliciosa', tag });
  await page.getByRole('button', { name: 'Add another' }).click();
  await fields(page).name.waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Show' }).click();
  await page.getByRole('dialog', { name: 'Monstera deliciosa' }).getByText(tag).waitFor();
});

const ids = [-(2n ** 63n), 2n ** 63n - 1n, 2n ** 53n + 1n];

it.each(ids)('stores and finds the plant with exactly the id %s', async (id) => {
  const page = await openForm();
  await add(page, 'Exact', id);
  await page.getByText('Added “Exact”').waitFor();
  expect(await client.getPlant.query({ id })).toMatchObject({ id, name: 'Exact' });
  await findField(page).fill(String(id));
  await page.getByRole('button', { name: `Go to id ${id}` }).click();
  const row = tableOf(page).getByRole('row').filter({ hasText: 'Exact' });
  await expect.poll(() => row.locator('.plant-id').textContent()).toBe(String(id));
  await client.deletePlant.mutate({ id });
});

it('suggests an id that is free', async () => {
  const page = await openForm();
  await expect.poll(() => fields(page).id.inputValue()).toMatch(/^\d+$/);
  const id = BigInt(await fields(page).id.inputValue());
  await expect(client.getPlant.query({ id })).rejects.toThrow(`no plant has the id ${id}`);
  await fields(page).name.fill('With a suggested id');
  await fields(page).add.click();
  await page.getByText('Added “With a suggested id”').waitFor();
  await client.deletePlant.mutate({ id });
});

it('keeps the draft until the user discards the draft', async () => {
  const page = await openForm();
  const question = page.getByRole('alertdialog', { name: 'Discard what you typed?' });
  await fields(page).name.fill('Half a na');
  await page.keyboard.press('Escape');
  await question.getByRole('button', { name: 'Cancel' }).click();
  expect(await fields(page).name.inputValue()).toBe('Half a na');
  await page.mouse.click(5, 400);
  await question.getByRole('button', { name: 'Discard' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Add a plant' }).click();
  expect(await fields(page).name.inputValue()).toBe('');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

it('keeps the draft when the token is revoked', async () => {
  const page = await openForm();
  await fields(page).name.fill('Half a na');
  await page.route('**/trpc/**', (route) =>
    route.continue({
      headers: { ...route.request().headers(), authorization: 'Bearer revoked' },
    }),
  );
  await fields(page).add.click();
  await page.getByRole('alert').getByText('expired or revoked').waitFor();
  await page.unroute('**/trpc/**');
  await page.getByLabel('Access token').fill(token);
  await page.keyboard.press('Enter');
  await fields(page).name.waitFor();
  expect(await fields(page).name.inputValue()).toBe('Half a na');
});

it('explains an error of the network, and removes the error when the server responds again', async () => {
  const page = await openForm();
  const paths = ['**/trpc/createPlant*', '**/readyz'];
  for (const path of paths) await page.route(path, (route) => route.abort());
  await fields(page).name.fill('Half a name');
  await fields(page).add.click();
  const alert = page.getByRole('alert');
  await alert.getByText('The plant store does not respond. Check the network').waitFor();
  expect(await alert.textContent()).not.toContain('fetch');
  await page.getByText('The server does not respond. Trying again').waitFor({ state: 'attached' });
  for (const path of paths) await page.unroute(path);
  await alert.waitFor({ state: 'detached' });
  expect(await fields(page).name.inputValue()).toBe('Half a name');
});

it('opens the form even when the stored draft is not JSON', async () => {
  const page = await openPage(address(), {
    prepare: (page) =>
      page.addInitScript(() => sessionStorage.setItem('plant-store.draft', '{"name":')),
  });
  await page.getByRole('button', { name: 'Add a plant' }).click();
  expect(await fields(page).name.inputValue()).toBe('');
});

it('shows that the console cannot continue when the code of the console throws an error', async () => {
  const page = await openPage(address(), {
    prepare: (page) =>
      page.addInitScript(() => {
        Object.defineProperty(Intl.NumberFormat.prototype, 'format', {
          get() {
            throw new Error('a broken browser');
          },
        });
      }),
  });
  await page.getByRole('alert').getByText('A broken browser').waitFor();
  await page.getByRole('link', { name: 'Start again' }).waitFor();
  expect(takeFaults().join()).toContain('a broken browser');
});

it('checks the fields while the user types', async () => {
  const page = await openForm();
  const { id, name } = fields(page);
  for (const text of ['1.5', '1e3', '007', 'seven']) {
    await id.fill(text);
    await page.getByText('must be a whole number').waitFor();
  }
  await id.fill('9223372036854775808');
  await page.getByText('must be from -9223372036854775808').waitFor();
  await id.fill('7');
  await page.getByText('must be').waitFor({ state: 'detached' });
  await name.fill('x');
  await name.fill('');
  await page.getByText('Enter a name').waitFor();
  await name.fill('  ');
  await page.getByText('Enter a name that has more than spaces').waitFor();
  await name.fill('U+0000 is \u0000');
  await page.getByText('must not contain U+0000').waitFor();
});

it('shows an error from the server below the invalid field', async () => {
  const page = await openForm();
  await page.route('**/trpc/createPlant*', (route) => {
    const data = { code: 'BAD_REQUEST', httpStatus: 400, error: 40001, path: 'createPlant' };
    const fields = { name: ['is not polite'] };
    const error = { message: 'invalid input', code: -32600, data: { ...data, fields } };
    return route.fulfill({ status: 400, json: [{ error: { json: error } }] });
  });
  await add(page, 'Impolite');
  await page.getByText('is not polite').waitFor();
  expect(await fields(page).name.getAttribute('aria-invalid')).toBe('true');
  await fields(page).name.fill('Polite');
  await page.getByText('is not polite').waitFor({ state: 'detached' });
});

it('shows the stored plant when the typed id is taken', async () => {
  const id = freshId();
  await client.createPlant.mutate({ id, name: 'The owner of the id' });
  const page = await openForm();
  await add(page, 'Too late', id);
  const alert = page.getByRole('alert', { name: 'The id is taken' });
  await alert.getByText('The owner of the id').waitFor();
  await add(page, 'Too late');
  await page.getByText('Added “Too late”').waitFor();
});

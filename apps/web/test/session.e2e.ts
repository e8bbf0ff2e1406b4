import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { token } from './fixtures/global-setup.ts';
import { dialogOf, openPage, rowOf, tableOf } from './fixtures/open-page.ts';
import {
  address,
  client,
  createPlants,
  freshTag,
  openPlants,
  tokenWith,
  url,
} from './fixtures/shared-server.ts';

it('the console removes the token from the address bar, and never sends it in a URL', async () => {
  const tag = freshTag();
  await createPlants(['Hoya'], tag);
  const requests: string[] = [];
  const page = await openPage(`${address()}&${new URLSearchParams({ tag })}`, {
    prepare: async (page) => page.on('request', (request) => requests.push(request.url())),
  });
  await rowOf(page, 'Hoya').waitFor();
  expect(new URL(page.url()).hash).toBe(`#${new URLSearchParams({ tag })}`);
  expect(requests.filter((each) => each.includes(token))).toEqual([]);
  expect(await page.evaluate(() => Object.keys(localStorage))).toEqual([]);
});

it('a new tab gets the token from another tab, or asks the user for a token', async () => {
  const { page, ids } = await openPlants(['Hoya']);
  const [id = 0n] = ids;
  await rowOf(page, 'Hoya').waitFor();
  const tab = await page.context().newPage();
  await tab.goto(`${url}/#plant=${id}`);
  await dialogOf(tab, 'Hoya').waitFor();
  await Promise.all([tab.close(), page.close()]);

  const mailed = await openPage(`${url}/#plant=${id}`);
  await mailed.getByText('Ask the person who runs this store').waitFor();
  expect(await mailed.locator('code').count()).toBe(0);
  await mailed.getByLabel('Access token').fill(token);
  await mailed.keyboard.press('Enter');
  await dialogOf(mailed, 'Hoya').waitFor();
});

it('the console keeps the user signed in only if the user has checked "Keep me signed in"', async () => {
  const page = await openPage(url);
  await page.getByLabel('Access token').fill(token);
  await page.getByLabel('Keep me signed in').check();
  await page.getByRole('button', { name: 'Open' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  await page.close();
  const later = await openPage(url);
  await later.getByRole('button', { name: 'Sign out' }).click();
  await later.getByLabel('Keep me signed in').uncheck();
  await dialogOf(later, 'Signed in').getByRole('button', { name: 'Sign out' }).click();
  await later.getByLabel('Access token').waitFor();
  await later.close();
  const last = await openPage(url);
  await last.getByLabel('Access token').waitFor();
});

it('the console asks for another token when the token is revoked, and keeps the typed text', async () => {
  const { id, token: own } = await client.createAccessToken.mutate({
    name: freshTag(),
    scopes: ['plants:create', 'plants:read'],
  });
  const page = await openPage(address(own));
  await page.getByRole('button', { name: /^Add/ }).first().click();
  await page.getByLabel('Name').fill('Half a na');
  await client.revokeAccessToken.mutate({ id });
  const again = dialogOf(page, 'Sign in again');
  await again
    .getByRole('alert')
    .getByText('unknown, expired or revoked')
    .waitFor({ timeout: 90_000 });
  await again.getByLabel('Access token').fill(token);
  await page.keyboard.press('Enter');
  await again.waitFor({ state: 'detached' });
  expect(await page.getByLabel('Name').inputValue()).toBe('Half a na');
});

it('the console offers only the actions that the token allows', async () => {
  const { page } = await openPlants(['Hoya'], { token: await tokenWith('plants:read') });
  await rowOf(page, 'Hoya').getByRole('link').first().click();
  await page.getByRole('button', { name: 'Copy link' }).waitFor();
  for (const name of ['Add', 'Import', 'Access tokens', 'Correct', 'Duplicate', 'Delete']) {
    expect(await page.getByRole('button', { name, exact: true }).count(), name).toBe(0);
  }
  const creator = await openPage(address(await tokenWith('plants:create')));
  await creator.getByRole('heading', { name: 'You cannot see the plants' }).waitFor();
  await creator.getByRole('button', { name: 'Add a plant' }).click();
  await creator.getByLabel('Name').fill('Unseen');
  await creator.getByRole('button', { name: 'Add plant' }).click();
  await creator.getByText('Added “Unseen”').waitFor();
});

it('the console creates a token, copies its link and its command, and revokes the token', async () => {
  const page = await openPage(address());
  const name = freshTag();
  await page.getByRole('button', { name: 'Access tokens' }).click();
  await page.getByRole('button', { name: 'New token' }).click();
  await page.getByLabel('Who or what is it for?').fill(name);
  await page.getByLabel('add plants').uncheck();
  await page.getByRole('button', { name: 'Create token' }).click();
  await page.getByText('nobody can see the token').waitFor();
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await page.getByRole('button', { name: 'Copy the command' }).click();
  await expect.poll(copied).toMatch(/^curl '.*\/plants' -H "Authorization: Bearer plant_/);
  await page.getByRole('button', { name: 'Copy the link' }).click();
  await expect.poll(copied).toMatch(/#token=plant_/);
  const colleague = await openPage(await copied());
  await tableOf(colleague).or(colleague.getByText('No plants yet')).waitFor();
  expect(await colleague.getByRole('button', { name: 'Add', exact: true }).count()).toBe(0);
  await colleague.close();

  await page.getByRole('button', { name: 'Done' }).click();
  page.once('dialog', (question) => question.accept());
  await page.getByRole('button', { name: `Revoke ${name}` }).click();
  await page.getByText(`Revoked “${name}”`).waitFor();
  await page.getByRole('row').filter({ hasText: name }).getByText('revoked').waitFor();
});

it('the console revokes the token of the tab only after the user has typed the name of the token', async () => {
  const name = freshTag();
  const { token: own } = await client.createAccessToken.mutate({ name, scopes: ['tokens:manage'] });
  const page = await openPage(address(own));
  await page.getByRole('button', { name: 'Access tokens' }).click();
  const revoke = page.getByRole('button', { name: `Revoke ${name}` });
  page.once('dialog', (question) => question.accept('another name'));
  await revoke.click();
  expect((await client.listAccessTokens.query({})).tokens[0]).not.toHaveProperty('revokedAt');
  page.once('dialog', (question) => question.accept(name));
  await revoke.click();
  await dialogOf(page, 'Sign in again').waitFor({ timeout: 90_000 });
});

it('the console works behind a proxy that adds a path prefix', async () => {
  const proxy = createServer((incoming, outgoing) => {
    const path = incoming.url?.replace(/^\/behind\/a\/prefix/, '') ?? '';
    const { method, headers } = incoming;
    incoming.pipe(
      httpRequest(url + path, { method, headers }, (response) => {
        outgoing.writeHead(response.statusCode ?? 500, response.headers);
        response.pipe(outgoing);
      }),
    );
  });
  onTestFinished(() => proxy.close().closeAllConnections());
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  // The cast is safe, because the server listens on a TCP port.
  const { port } = proxy.address() as AddressInfo;
  const page = await openPage(`http://127.0.0.1:${port}/behind/a/prefix/#token=${token}`);
  await tableOf(page).or(page.getByText('No plants yet')).waitFor();
});

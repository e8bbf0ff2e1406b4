import { expect, it } from 'vitest';
import { openPage, tableOf } from '../fixtures/open-page.ts';
import { address, token, url } from '../fixtures/shared-server.ts';

it('immediately removes the token from the address bar and from the history', async () => {
  const page = await openPage(address());
  await tableOf(page).or(page.getByText('no plants yet')).waitFor();
  expect(page.url()).toBe(`${url}/`);
  expect(await page.evaluate(() => history.length)).toBeLessThanOrEqual(2);
});

it('keeps the filter and the open view of a link with a token', async () => {
  const page = await openPage(`${address()}&tag=a+tag&sheet=requests`);
  await page.getByRole('dialog', { name: 'Requests' }).waitFor();
  expect(page.url()).toBe(`${url}/#tag=a+tag&sheet=requests`);
  await page.evaluate((hash) => location.assign(hash), `#token=${token}&search=Hoya`);
  await expect.poll(() => page.url()).toBe(`${url}/#search=Hoya`);
});

it('stores the token only for the current tab, and says in another tab where to find a token', async () => {
  const page = await openPage(address());
  await page.reload();
  await page.getByText('Connected').waitFor();
  expect(await page.evaluate(() => JSON.stringify(localStorage))).toBe('{}');
  const other = await page.context().newPage();
  await other.goto(url);
  await other.getByText('prints a link that opens the console').waitFor();
  await other.getByText('plant-store token create NAME').waitFor();
  await other.getByLabel('Access token').fill(token);
  await other.getByRole('button', { name: 'Open' }).click();
  await other.getByText('Connected').waitFor();
});

it('keeps a new token when the store rejects a request with the earlier token', async () => {
  const page = await openPage(url);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route('**/trpc/**', async (route) => {
    if (route.request().headers()['authorization'] === 'Bearer old') await released;
    await route.continue();
  });
  const sent = page.waitForRequest('**/trpc/**');
  const rejected = page.waitForResponse((response) => response.status() === 401);
  await page.evaluate(() => location.assign('#token=old'));
  await sent;
  await page.evaluate((hash) => location.assign(hash), `#token=${token}`);
  await page.getByText('This token may').waitFor();
  release();
  await (await rejected).finished();
  await page.evaluate(() => new Promise(requestAnimationFrame));
  await page.reload();
  await page.getByText('This token may').or(page.getByLabel('Access token')).waitFor();
  expect(await page.getByLabel('Access token').count()).toBe(0);
});

it.each([
  [
    'blocks the session storage',
    () =>
      Object.defineProperty(window, 'sessionStorage', {
        get() {
          throw new DOMException('Access is denied for this document.', 'SecurityError');
        },
      }),
  ],
  [
    'has no room in the session storage',
    () => {
      for (let size = 2 ** 23, i = 0; size >= 1; i++) {
        try {
          sessionStorage.setItem(`other ${i}`, 'x'.repeat(size));
        } catch {
          size /= 2;
        }
      }
    },
  ],
])('keeps the token and a draft until a reload when the browser %s', async (_case, spoil) => {
  const page = await openPage(url, { prepare: (page) => page.addInitScript(spoil) });
  await page.getByLabel('Access token').fill(token);
  await page.getByRole('button', { name: 'Open' }).click();
  await page.getByRole('button', { name: 'Add a plant' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Hoya');
  await page.getByRole('textbox', { name: 'Id' }).fill('no id');
  await page.getByText('must be a whole number').waitFor();
  await page.goBack();
  await page.goForward();
  await expect.poll(() => page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Hoya');
  await page.reload();
  await page.getByLabel('Access token').waitFor();
});

it.each([
  ['the store rejects the token', 'unknown-token', 'unknown, expired or revoked'],
  ['an HTTP header cannot hold the token', 'token%F0%9F%98%80', 'an HTTP header cannot hold'],
])('asks for another token when %s', async (_case, text, reason) => {
  const page = await openPage(address(text));
  await page.getByRole('alert').getByText(reason).waitFor();
  await page.getByLabel('Access token').waitFor();
});

it('keeps a plus sign in the token when the user opens a link with a token', async () => {
  const page = await openPage(url);
  const request = page.waitForRequest('**/trpc/**');
  await page.evaluate(() => location.assign('#token=to+ken%2B/='));
  expect((await request).headers()['authorization']).toBe('Bearer to+ken+/=');
  await page.getByRole('alert').waitFor();
});

it('forgets the token after the user confirms', async () => {
  const page = await openPage(address());
  await page.getByRole('button', { name: 'Forget token' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Forget token' }).click();
  await page.getByLabel('Access token').waitFor();
  await page.reload();
  await page.getByLabel('Access token').waitFor();
});

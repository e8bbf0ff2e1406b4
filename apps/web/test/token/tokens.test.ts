import { expect, it } from 'vitest';
import { openPage } from '../fixtures/open-page.ts';
import { address, client, freshTag, tokens, url } from '../fixtures/shared-server.ts';

it('creates a token in four steps, copies the token, and revokes the token', async () => {
  const name = freshTag();
  const page = await openPage(address(), { width: 360, height: 640 });
  await page.getByRole('button', { name: 'Access tokens' }).click();
  await page.getByLabel('Name of the new token').fill(name);
  await page.getByRole('button', { name: 'Create token' }).click();
  await page.getByRole('button', { name: 'Copy token' }).click();
  await page.getByText('Copied').waitFor();
  const token = await page.evaluate(() => navigator.clipboard.readText());
  expect(token).toMatch(/^plant_[\w-]{43}$/);
  const headers = { authorization: `Bearer ${token}` };
  const identity = await (await fetch(`${url}/whoami`, { headers })).json();
  expect(identity).toMatchObject({ name, scopes: ['plants:create', 'plants:read'] });
  expect(Date.parse(Object(identity).expiresAt)).toBeGreaterThan(Date.now());

  const row = page
    .getByRole('list', { name: 'Access tokens' })
    .getByRole('listitem')
    .filter({ hasText: name });
  await row.getByText('Expires').waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  await row.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click();
  await row.getByText('Revoked').waitFor();
  expect((await fetch(`${url}/whoami`, { headers })).status).toBe(401);
});

it('ends a token at the start of the chosen day in the time zone of the user', async () => {
  const name = freshTag();
  const page = await openPage(address(), {
    async prepare(page) {
      const session = await page.context().newCDPSession(page);
      await session.send('Emulation.setTimezoneOverride', { timezoneId: 'America/Los_Angeles' });
    },
  });
  await page.getByRole('button', { name: 'Access tokens' }).click();
  await page.getByLabel('Name of the new token').fill(name);
  await page.getByLabel('Expires').fill('20300-02-25');
  await page.getByRole('button', { name: 'Create token' }).click();
  // The browser rejects the year.
  expect(await page.getByLabel('Expires').evaluate((input) => input.matches(':invalid'))).toBe(
    true,
  );
  await page.getByLabel('Expires').fill('2030-02-25');
  await page.getByRole('button', { name: 'Create token' }).click();
  await page
    .getByRole('listitem')
    .filter({ hasText: name })
    .getByText('Expires 25 Feb 2030')
    .waitFor();
  const { tokens } = await client.listAccessTokens.query({});
  const { expiresAt } = tokens.find((token) => token.name === name) ?? {};
  expect(expiresAt?.toISOString()).toBe('2030-02-25T08:00:00.000Z');
});

it('asks twice before the user can revoke the token of the current tab', async () => {
  const name = freshTag();
  const { token } = await client.createAccessToken.mutate({ name, scopes: ['tokens:manage'] });
  const page = await openPage(`${address(token)}`);
  await page.getByRole('button', { name: 'Access tokens' }).click();
  const question = page.getByRole('alertdialog');
  await page.getByRole('button', { name: `Revoke ${name}` }).click();
  await question.getByRole('button', { name: 'Revoke' }).click();
  await question.getByLabel('Type “').fill(name);
  await question.getByRole('button', { name: 'Revoke my token' }).click();
  await page.getByText('unknown, expired or revoked').waitFor();
});

it('hides the view of access tokens when the token may not manage access tokens', async () => {
  const page = await openPage(`${address(tokens['read'])}&sheet=tokens`);
  await page.getByText('This token may read plants').waitFor();
  expect(await page.getByRole('button', { name: 'Access tokens' }).count()).toBe(0);
  expect(await page.getByRole('dialog').count()).toBe(0);
});

import { scopes } from '@plant-store/schemas';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callers } from '../fixtures/callers.ts';
import { documentValidator } from '../fixtures/document-validator.ts';
import { type IdentityProvider, startIdentityProvider } from '../fixtures/identity-provider.ts';
import { shareServer, startServer } from '../fixtures/running-server.ts';

let provider: IdentityProvider;

beforeAll(async () => {
  provider = await startIdentityProvider();
  await provider.addKey('first');
});

afterAll(() => provider.stop());

describe.each(callers)('over $name', ({ call }) => {
  const server = shareServer({ jwts: provider.settings });

  const whoAmI = (token: string) => call({ url: server.url, token }, 'whoAmI', {});

  it('tells the name, the scopes and the expiry of an access token', async () => {
    const expiresAt = new Date('2100-01-02T03:04:05.678Z');
    const options = { scopes: ['plants:delete'], expiresAt } as const;
    const token = await server.store.accessTokens.create('gärtner 🌻', options);
    const { status, output } = await whoAmI(token);
    expect(status).toBe(200);
    expect(output).toStrictEqual({ name: 'gärtner 🌻', scopes: ['plants:delete'], expiresAt });
  });

  it('tells no expiry when the token has none', async () => {
    const token = await server.store.accessTokens.create('lasting');
    const lasting = { name: 'lasting', scopes: ['plants:create', 'plants:read'] };
    expect((await whoAmI(token)).output).toStrictEqual(lasting);
    expect((await whoAmI(server.token)).output).toStrictEqual({ name: 'tester', scopes });
  });

  it('tells the subject, the scopes and the expiry of a JWT', async () => {
    const exp = Math.floor(Date.now() / 1_000) + 300;
    const jwt = await provider.sign({ claims: { sub: 'ann', scope: 'plants:unknown', exp } });
    const expiresAt = new Date(exp * 1_000);
    expect((await whoAmI(jwt)).output).toStrictEqual({ name: 'ann', scopes: [], expiresAt });
  });

  it('tells no expiry whose year has more than four digits', async () => {
    for (const exp of [253_402_300_800, 1e15]) {
      const jwt = await provider.sign({ claims: { sub: 'ann', exp } });
      expect((await whoAmI(jwt)).output).toStrictEqual({ name: 'ann', scopes: ['plants:create'] });
    }
  });

  it('needs a valid token', async () => {
    expect(await whoAmI('guess')).toMatchObject({ status: 401, error: 40101 });
  });

  it('rejects parameters', async () => {
    expect(await call(server, 'whoAmI', { verbose: 1 })).toMatchObject({
      ...{ status: 400, error: 40001 },
      message: 'invalid input: it has no parameter "verbose"',
    });
  });
});

it('tells no expiry when an operator has set the expiry of a token to infinity', async () => {
  const server = await startServer('Postgres');
  const token = await server.store.accessTokens.create('infinite');
  const sql = postgres(server.databaseUrl ?? '');
  await sql`update access_tokens set expires_at = 'infinity'`;
  await sql.end();
  for (const { call } of callers) {
    const { output } = await call({ url: server.url, token }, 'whoAmI', {});
    expect(output).toStrictEqual({ name: 'infinite', scopes: ['plants:create', 'plants:read'] });
  }
  await server.stop();
});

it('sends responses that the document describes', async () => {
  const server = await startServer('Postgres');
  const document = await documentValidator(server.url);
  const expiresAt = new Date('2100-01-02T03:04:05.678Z');
  const expiring = await server.store.accessTokens.create('expiring', { expiresAt });
  for (const token of [server.token, expiring, 'guess']) {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${server.url}/whoami`, { headers });
    const received = {
      status: response.status,
      headers: response.headers,
      body: await response.text(),
    };
    expect(document.operation('GET /whoami').differencesFrom(received)).toEqual([]);
  }
  expect(document.operation('GET /whoami').statuses).not.toContain(403);
  await server.stop();
});

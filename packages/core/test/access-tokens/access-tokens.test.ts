import { createHash } from 'node:crypto';
import { createDatabase } from '@plant-store/test-setup';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import {
  type AccessTokens,
  createAccessTokens,
  generateToken,
} from '../../src/access-tokens/access-tokens.ts';
import type { Database } from '../../src/database/database.ts';
import { openPlantStore } from '../../src/plant-store.ts';
import { openPostgres } from '../../src/postgres/postgres-database.ts';
import { closeAtEnd, embedded, server, shareStore } from '../fixtures/databases.ts';

/** Makes the principal of an access token that has the default scopes. */
const principal = (name: string | undefined) => ({
  name,
  scopes: ['plants:create', 'plants:read'],
  tokenId,
});

/** Returns the time of the last use of the newest token with this name. */
async function lastUse({ list }: AccessTokens, name: string): Promise<Date | undefined> {
  return (await list()).tokens.find((token) => token.name === name)?.lastUsedAt;
}

const tokenId = expect.stringMatching(/^[0-9a-f]{16}$/);

describe('access tokens', () => {
  let sql: postgres.Sql;
  let databaseUrl: string;
  let database: Database;
  let time = Date.parse('2030-01-01T00:00:00Z');
  const now = () => time;
  /** Adds milliseconds to the current time of the database. */
  const fromNow = async (milliseconds: number): Promise<Date> => {
    const [row] = await sql`select now() + ${milliseconds} * interval '1 ms' as time`;
    return row?.['time'];
  };
  const open = () => createAccessTokens({ ...database, now, elapsed: now });

  beforeAll(async () => {
    databaseUrl = await createDatabase(inject('postgresUrl'));
    database = await openPostgres(databaseUrl);
    sql = postgres(databaseUrl);
  });

  afterAll(() => Promise.all([sql.end(), database.close()]));

  it('makes an access token from a fixed prefix and 256 random bits', () => {
    expect(generateToken()).toMatch(/^plant_[\w-]{43}$/);
    expect(generateToken()).not.toBe(generateToken());
  });

  it('returns a principal, not a promise, when the access token is cached', async () => {
    const tokens = open();
    const token = await tokens.create('Gil');
    const lookups = [tokens.authenticate(token), tokens.authenticate(token)];
    expect(lookups[0]).toBeInstanceOf(Promise);
    expect(lookups[1]).toBe(lookups[0]);
    await lookups[0];
    expect(tokens.authenticate(token)).toEqual(principal('Gil'));
  });

  it('stores only the SHA-256 of an access token', async () => {
    const token = await open().create('Ben');
    const [row] = await sql`select * from access_tokens where name = 'Ben'`;
    expect(row).toEqual({
      sha256: createHash('sha256').update(token).digest(),
      name: 'Ben',
      created_at: expect.any(Date),
      expires_at: null,
      revoked_at: null,
      last_used_at: null,
      scope: 'plants:create plants:read',
    });
  });

  it('shows no SQL in the error when the database is unreachable', async () => {
    const unreachable = closeAtEnd(await openPostgres('postgres://127.0.0.1:1/none'));
    const { create } = createAccessTokens(unreachable);
    await expect(create('Fay')).rejects.toMatchObject({
      code: 50300,
      message: 'the store has no connection to the database: try again later',
    });
  });

  const ofText = 'must have 1 to 100 characters and no control characters';

  it.each([
    ['', ofText],
    ['a\nb', ofText],
    ['\0', ofText],
    ['\ud800', ofText],
    ['x'.repeat(101), ofText],
    [5 as never, 'must be a string'], // Untyped code can pass a number as the name.
  ])('rejects the name %j for an access token', async (name, message) => {
    await expect(open().create(name)).rejects.toMatchObject({
      code: 40001,
      message: `invalid input: name ${message}`,
    });
  });

  it.each([
    [{ expiresAt: new Date(0) }, 'expiresAt must be in the future'],
    [{ expiresAt: new Date('') }, 'expiresAt must be a date'],
    [{ expiresIn: 0 }, 'expiresIn must be more than 0'],
    [{ expiresIn: '5' as never }, 'expiresIn must be a number of milliseconds'], // From untyped code.
  ])('rejects the expiry %o', async (expiry, message) => {
    const create = open().create('Hal', expiry);
    await expect(create).rejects.toMatchObject({ message: `invalid input: ${message}` });
  });

  it('ignores unknown scopes of an access token', async () => {
    const token = await open().create('Fox');
    await sql`update access_tokens set scope = 'plants:water plants:read' where name = 'Fox'`;
    const fox = { name: 'Fox', scopes: ['plants:read'], tokenId };
    expect(await open().authenticate(token)).toEqual(fox);
  });

  it('rejects an unknown access token', async () => {
    const tokens = open();
    await tokens.create('Cleo');
    for (const token of ['', 'plant_', generateToken(), 'Cleo']) {
      expect(await tokens.authenticate(token)).toBeUndefined();
      // For a cached token, `authenticate` returns the result, not a promise.
      expect(tokens.authenticate(token)).toBeUndefined();
    }
  });

  it('rejects an expired access token even when the token is cached', async () => {
    const tokens = open();
    const expiresAt = await fromNow(29_000);
    const token = await tokens.create('Ida', { expiresAt });
    expect(await tokens.authenticate(token)).toEqual({ ...principal('Ida'), expiresAt });
    await sql`update access_tokens set expires_at = now() where name = 'Ida'`;
    time += 20_000;
    expect(await tokens.authenticate(token)).toMatchObject(principal('Ida'));
    time += 9_000;
    expect(await tokens.authenticate(token)).toBeUndefined();
    expect(await open().authenticate(token)).toBeUndefined();
  });

  it.each([
    ['behind', -1],
    ['ahead', 1],
  ])(
    'lets access tokens expire by the clock of the database when the clock of the store is a year %s',
    async (_, sign) => {
      const before = time;
      onTestFinished(() => {
        time = before;
      });
      time = Date.now() + sign * 365 * 86_400_000;
      const tokens = open();
      const token = await tokens.create('Una', { expiresIn: 60_000 });
      const [row] = await sql`
      select expires_at between now() and now() + interval '60 s' as is_soon
      from access_tokens where name = 'Una' order by created_at desc limit 1`;
      expect(row).toEqual({ is_soon: true });
      expect(await tokens.authenticate(token)).toMatchObject(principal('Una'));
      await sql`update access_tokens set expires_at = now() where name = 'Una'`;
      expect(await open().authenticate(token)).toBeUndefined();
    },
  );

  it('rejects a revoked access token immediately, and within 30 seconds on other instances', async () => {
    const [here, ...others] = [open(), open(), open()];
    const token = await here.create('Dora');
    for (const tokens of [here, ...others]) {
      expect(await tokens.authenticate(token)).toEqual(principal('Dora'));
    }
    expect(await here.revoke('Dora')).toBe(true);
    expect(await here.authenticate(token)).toBeUndefined();
    time += 28_999;
    for (const tokens of others) {
      expect(await tokens.authenticate(token)).toEqual(principal('Dora'));
    }
    time += 1;
    for (const tokens of others) {
      expect(await tokens.authenticate(token)).toBeUndefined();
      expect(await tokens.authenticate(token)).toBeUndefined();
    }
  });

  it('revokes all access tokens with the same name', async () => {
    const tokens = open();
    const both = [await tokens.create('Kim'), await tokens.create('Kim')];
    const other = await tokens.create('Leo');
    for (const token of both) expect(await tokens.authenticate(token)).toEqual(principal('Kim'));
    expect(await tokens.revoke('Kim')).toBe(true);
    for (const token of both) expect(await tokens.authenticate(token)).toBeUndefined();
    expect(await tokens.authenticate(other)).toEqual(principal('Leo'));
    expect(await tokens.revoke('Kim')).toBe(false);
    expect(await tokens.revoke('nobody')).toBe(false);
  });

  it('records when an access token was last used, at most once a minute', async () => {
    const tokens = open();
    const token = await tokens.create('Mia');
    expect(await lastUse(tokens, 'Mia')).toBeUndefined();
    const first = new Date(time);
    await tokens.authenticate(token);
    await vi.waitFor(async () => expect(await lastUse(tokens, 'Mia')).toEqual(first));
    time += 59_999;
    const others = open();
    await others.authenticate(token);
    // Updates run in order, so an update of Mia's token would come before the update of the second token.
    await others.authenticate(await others.create('Mia too'));
    await vi.waitFor(async () => expect(await lastUse(others, 'Mia too')).toEqual(new Date(time)));
    expect(await lastUse(tokens, 'Mia')).toEqual(first);
    time += 1;
    await open().authenticate(token);
    await vi.waitFor(async () => expect(await lastUse(tokens, 'Mia')).toEqual(new Date(time)));
  });

  it('delays no request while a lock on the table blocks updates of `last_used_at`', async () => {
    const store = closeAtEnd(await openPlantStore({ databaseUrl }));
    const names = Array.from({ length: 10 }, (_, i) => `Quin ${i}`);
    const tokens = await Promise.all(names.map((name) => store.accessTokens.create(name)));
    const other = await sql.reserve();
    await other`begin`;
    await other`lock table access_tokens in share mode`;
    for (const [i, token] of tokens.entries()) {
      expect(await store.accessTokens.authenticate(token)).toEqual(principal(names[i]));
      expect(await store.create({ id: BigInt(i), name: 'Ficus' })).toEqual({ name: 'Ficus' });
    }
    // There are two connections for lists, and the blocked update occupies only one connection.
    expect((await store.list({ limit: 1 })).plants).toHaveLength(1);
    await other`rollback`;
    other.release();
    await vi.waitFor(async () => {
      const list = await store.accessTokens.list();
      const used = list.tokens.filter(({ name, lastUsedAt }) => names.includes(name) && lastUsedAt);
      expect(used).toHaveLength(names.length);
    });
  });

  it('records when an access token was last used, even while the row of another token is locked', async () => {
    const tokens = open();
    const [locked, free] = [await tokens.create('Rhea'), await tokens.create('Sam')];
    const other = await sql.reserve();
    await other`begin`;
    await other`update access_tokens set revoked_at = now() where name = 'Rhea'`;
    for (const token of [locked, free]) await tokens.authenticate(token);
    await vi.waitFor(async () => expect(await lastUse(tokens, 'Sam')).toEqual(new Date(time)));
    await other`rollback`;
    other.release();
  });

  it('accepts an access token even when the database rejects the update of `last_used_at`', async () => {
    const token = await open().create('Nora');
    // A sequence keeps its value when the transaction is rolled back.
    await sql`create sequence rejected_updates`;
    await sql`
      create function reject_update() returns trigger language plpgsql
      as $$ begin raise 'rejected update %', nextval('rejected_updates'); end $$`;
    await sql`
      create trigger reject_update before update on access_tokens execute function reject_update()`;
    const tokens = open();
    expect(await tokens.authenticate(token)).toEqual(principal('Nora'));
    await vi.waitFor(async () => {
      expect(await sql`select from rejected_updates where is_called`).toHaveLength(1);
    });
    await sql`drop trigger reject_update on access_tokens`;
  });
});

describe.each([server, embedded])('access tokens on $name', ({ provide }) => {
  const store = shareStore(provide);

  it('lists the newest access tokens first', async () => {
    const expiresAt = new Date(Date.now() + 60_000);
    await store.accessTokens.create('Zoë');
    await store.accessTokens.create('Ann', { expiresAt });
    await store.accessTokens.revoke('Zoë');
    const { scopes } = principal('Ann');
    const unused = { id: tokenId, scopes, createdAt: expect.any(Date) };
    expect((await store.accessTokens.list()).tokens).toEqual([
      { ...unused, name: 'Ann', expiresAt },
      { ...unused, name: 'Zoë', revokedAt: expect.any(Date) },
    ]);
  });

  it('accepts an access token, and records when the token was last used', async () => {
    const token = await store.accessTokens.create('Pia');
    expect(await store.accessTokens.authenticate(token)).toEqual(principal('Pia'));
    // For a cached token, `authenticate` returns the result, not a promise.
    expect(store.accessTokens.authenticate(token)).toEqual(principal('Pia'));
    await vi.waitFor(async () =>
      expect(await lastUse(store.accessTokens, 'Pia')).toBeInstanceOf(Date),
    );
  });
});

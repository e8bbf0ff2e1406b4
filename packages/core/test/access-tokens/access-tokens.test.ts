import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

/** The principal of a token that was created without scopes. */
const principal = (name: string | undefined) => ({
  name,
  scopes: ['plants:create', 'plants:read'],
});

describe('access tokens', () => {
  let sql: postgres.Sql;
  let databaseUrl: string;
  let database: Database;
  let time = Date.parse('2030-01-01T00:00:00Z');
  const now = () => time;
  /** A time by the database's clock. */
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

  it('have 256 random bits after a recognisable prefix', () => {
    expect(generateToken(() => Buffer.alloc(32, 255))).toBe(`plant_${'_'.repeat(42)}8`);
    expect(generateToken()).toMatch(/^plant_[\w-]{43}$/);
    expect(generateToken()).not.toBe(generateToken());
  });

  it('authenticate without a promise while they are cached', async () => {
    const tokens = open();
    const token = await tokens.create('Gil');
    const lookups = [tokens.authenticate(token), tokens.authenticate(token)];
    expect(lookups[0]).toBeInstanceOf(Promise);
    expect(lookups[1]).toBe(lookups[0]);
    await lookups[0];
    expect(tokens.authenticate(token)).toEqual(principal('Gil'));
  });

  it('are cached for 29 seconds by the clock of the process, or by the clock in the options', async () => {
    const tokens = createAccessTokens(database);
    const token = await tokens.create('Kim');
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    expect(await tokens.authenticate(token)).toEqual(principal('Kim'));
    vi.advanceTimersByTime(28_999);
    expect(tokens.authenticate(token)).toEqual(principal('Kim'));
    vi.advanceTimersByTime(1);
    const lookedUp = tokens.authenticate(token);
    expect(lookedUp).toBeInstanceOf(Promise);
    await lookedUp;
  });

  it('are stored only as their SHA-256', async () => {
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

  it('are not created while the database is unreachable, and the error message has no SQL', async () => {
    const unreachable = await openPostgres('postgres://127.0.0.1:1/none');
    onTestFinished(() => unreachable.close());
    const { create } = createAccessTokens(unreachable);
    await expect(create('Fay')).rejects.toMatchObject({
      code: 50300,
      message: 'the database did not respond: try again',
    });
  });

  it.each(['', 'a\nb', '\0', '\ud800', 'x'.repeat(101)])(
    'are not created with the name %j',
    async (name) => {
      await expect(open().create(name)).rejects.toMatchObject({
        code: 40001,
        message: 'invalid input: name must have 1 to 100 characters and no control characters',
      });
    },
  );

  it('are not created with an expiry that is in the past or not a date', async () => {
    await expect(open().create('Hal', { expiresAt: await fromNow(0) })).rejects.toMatchObject({
      message: 'invalid input: expiresAt must be in the future',
    });
    await expect(open().create('Hal', { expiresAt: new Date('') })).rejects.toMatchObject({
      message: 'invalid input: expiresAt must be a date',
    });
    await expect(open().create('Hal', { expiresIn: 0 })).rejects.toMatchObject({
      message: 'invalid input: expiresIn must be more than 0',
    });
    const expiresIn = '5' as never; // A tool without types can send it.
    await expect(open().create('Hal', { expiresIn })).rejects.toMatchObject({
      message: 'invalid input: expiresIn must be a number of milliseconds',
    });
  });

  it('have the scopes that they were created with', async () => {
    const tokens = open();
    const token = await tokens.create('Eve', { scopes: ['plants:delete'] });
    const eve = { name: 'Eve', scopes: ['plants:delete'] };
    expect(await tokens.authenticate(token)).toEqual(eve);
    expect(await tokens.list()).toContainEqual(expect.objectContaining(eve));
  });

  it('have only the scopes that this version knows', async () => {
    const token = await open().create('Fox');
    await sql`update access_tokens set scope = 'plants:water plants:read' where name = 'Fox'`;
    const fox = { name: 'Fox', scopes: ['plants:read'] };
    expect(await open().authenticate(token)).toEqual(fox);
  });

  it('are not created with a name that is not a string', async () => {
    const create = open().create(5 as never); // A tool without types can send it.
    await expect(create).rejects.toMatchObject({
      message: 'invalid input: name must be a string',
    });
  });

  it.each([
    [[], 'scopes must have at least one'],
    [['read'], 'scopes[0] must be one of plants:create, plants:read, plants:delete'],
  ])('are not created with the scopes %j', async (scopes, message) => {
    const create = open().create('Hal', { scopes: scopes as never }); // The scope is wrong on purpose.
    await expect(create).rejects.toMatchObject({ message: `invalid input: ${message}` });
  });

  it('are rejected when they are unknown', async () => {
    const tokens = open();
    await tokens.create('Cleo');
    for (const token of ['', 'plant_', generateToken(), 'Cleo']) {
      expect(await tokens.authenticate(token)).toBeUndefined();
      expect(tokens.authenticate(token)).toBeUndefined(); // Cached, so it is not a promise.
    }
  });

  it('are rejected from their expiry on, even while they are cached', async () => {
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
    ['ahead of', 1],
  ])("expire by the database's clock when this machine's is a year %s it", async (_, sign) => {
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
  });

  it('are rejected at once by the instance that revoked them, and within 30 seconds by other instances', async () => {
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

  it('are revoked together when they have the same name', async () => {
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

  it('record their last use about once a minute', async () => {
    const tokens = open();
    const token = await tokens.create('Mia');
    const lastUse = async () =>
      (await tokens.list()).find(({ name }) => name === 'Mia')?.lastUsedAt ?? undefined;
    expect(await lastUse()).toBeUndefined();
    const first = new Date(time);
    await tokens.authenticate(token);
    await vi.waitFor(async () => expect(await lastUse()).toEqual(first));
    time += 59_999;
    const others = open();
    await others.authenticate(token);
    // Updates run one after the other, so an update of the first token would come before this one.
    await others.authenticate(await others.create('Mia too'));
    await vi.waitFor(async () => {
      const list = await others.list();
      expect(list.find(({ name }) => name === 'Mia too')?.lastUsedAt).toEqual(new Date(time));
    });
    expect(await lastUse()).toEqual(first);
    time += 1;
    await open().authenticate(token);
    await vi.waitFor(async () => expect(await lastUse()).toEqual(new Date(time)));
  });

  it('delay no request while a table lock blocks the update of their last use', async () => {
    const store = await openPlantStore({ databaseUrl });
    onTestFinished(() => store.close());
    const names = Array.from({ length: 60 }, (_, i) => `Quin ${i}`);
    const tokens = await Promise.all(names.map((name) => store.accessTokens.create(name)));
    const other = await sql.reserve();
    await other`begin`;
    await other`lock table access_tokens in share mode`;
    for (const [i, token] of tokens.entries()) {
      expect(await store.accessTokens.authenticate(token)).toEqual(principal(names[i]));
      expect(await store.create({ id: BigInt(i), name: 'Ficus' })).toEqual({ name: 'Ficus' });
    }
    // The update occupies only one of the two connections for lists.
    expect((await store.list({ limit: 1 })).plants).toHaveLength(1);
    await other`rollback`;
    other.release();
    await vi.waitFor(async () => {
      const list = await store.accessTokens.list();
      const used = list.filter(({ name, lastUsedAt }) => names.includes(name) && lastUsedAt);
      expect(used).toHaveLength(names.length);
    });
  });

  it('record their last use while the row of another token is locked', async () => {
    const tokens = open();
    const [locked, free] = [await tokens.create('Rhea'), await tokens.create('Sam')];
    const other = await sql.reserve();
    await other`begin`;
    await other`update access_tokens set revoked_at = now() where name = 'Rhea'`;
    for (const token of [locked, free]) await tokens.authenticate(token);
    await vi.waitFor(async () => {
      const list = await tokens.list();
      expect(list.find(({ name }) => name === 'Sam')?.lastUsedAt).toEqual(new Date(time));
    });
    await other`rollback`;
    other.release();
  });

  it('are accepted even when their last use cannot be updated', async () => {
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

describe.each(['Postgres', 'PGlite'])('the access tokens of a store on %s', (database) => {
  let accessTokens: AccessTokens;
  let close: () => Promise<void>;

  beforeAll(async () => {
    const dataDirectory = await mkdtemp(join(tmpdir(), 'plant-store-tokens-'));
    const databaseUrl = await createDatabase(inject('postgresUrl'));
    const store = await openPlantStore(
      database === 'Postgres' ? { databaseUrl } : { dataDirectory },
    );
    accessTokens = store.accessTokens;
    close = async () => {
      await store.close();
      await rm(dataDirectory, { recursive: true });
    };
  });

  afterAll(() => close());

  it('are listed by name, without the token or its hash', async () => {
    const expiresAt = new Date(Date.now() + 60_000);
    const tokens = [
      await accessTokens.create('Zoë'),
      await accessTokens.create('Ann', { expiresAt }),
    ];
    await accessTokens.revoke('Zoë');
    const unused = { createdAt: expect.any(Date), lastUsedAt: null };
    const list = (await accessTokens.list()).filter(({ name }) => ['Ann', 'Zoë'].includes(name));
    expect(list).toEqual([
      { ...unused, ...principal('Ann'), expiresAt, revokedAt: null },
      { ...unused, ...principal('Zoë'), expiresAt: null, revokedAt: expect.any(Date) },
    ]);
    for (const token of tokens) {
      const sha256 = createHash('sha256').update(token).digest('hex');
      expect(JSON.stringify(list)).not.toContain(token);
      expect(JSON.stringify(list)).not.toContain(sha256);
    }
  });

  it('are accepted during a flood of unknown tokens', async () => {
    const token = await accessTokens.create('Olga');
    const guesses = Array.from({ length: 400 }, () => generateToken());
    const found = await Promise.all(
      [...guesses, token].map((each) => accessTokens.authenticate(each)),
    );
    expect(found).toEqual([...guesses.map(() => undefined), principal('Olga')]);
  });

  it('authenticate and record their last use', async () => {
    const token = await accessTokens.create('Pia');
    expect(await accessTokens.authenticate(token)).toEqual(principal('Pia'));
    expect(accessTokens.authenticate(token)).toEqual(principal('Pia')); // Cached, so it is not a promise.
    await vi.waitFor(async () => {
      const list = await accessTokens.list();
      expect(list.find(({ name }) => name === 'Pia')?.lastUsedAt).toBeInstanceOf(Date);
    });
  });
});

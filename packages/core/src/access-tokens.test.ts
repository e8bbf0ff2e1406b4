import { createHash } from 'node:crypto';
import { createDatabase } from '@plant-store/test-setup';
import { drizzle } from 'drizzle-orm/postgres-js';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createAccessTokens, createToken } from './access-tokens.ts';
import { openPlantStore } from './plant-store.ts';

describe('access tokens', () => {
  let sql: postgres.Sql;
  let databaseUrl: string;
  let time = 0;
  const open = () => createAccessTokens({ db: drizzle(postgres(databaseUrl)), now: () => time });

  beforeAll(async () => {
    databaseUrl = await createDatabase(inject('postgresUrl'));
    await (await openPlantStore({ databaseUrl })).close();
    sql = postgres(databaseUrl);
  });

  afterAll(() => sql.end());

  it('are 256 random bits behind a recognisable prefix', () => {
    expect(createToken(() => Buffer.alloc(32, 255))).toBe(`plant_${'_'.repeat(42)}8`);
    expect(createToken()).toMatch(/^plant_[\w-]{43}$/);
    expect(createToken()).not.toBe(createToken());
  });

  it('authenticate as the name they were given', async () => {
    const tokens = open();
    const token = await tokens.add('Ann');
    expect(await tokens.authenticate(token)).toEqual({ name: 'Ann' });
    expect(await open().authenticate(token)).toEqual({ name: 'Ann' });
  });

  it('are stored as their SHA-256 alone', async () => {
    const token = await open().add('Ben');
    const [row] = await sql`select * from access_tokens where name = 'Ben'`;
    expect(row).toEqual({
      sha256: createHash('sha256').update(token).digest(),
      name: 'Ben',
      created_at: expect.any(Date),
    });
  });

  it('are known at once where they were added, though they were tried before', async () => {
    const tokens = open();
    const token = createToken();
    expect(await tokens.authenticate(token)).toBeUndefined();
    await tokens.add('Eve', token);
    expect(await tokens.authenticate(token)).toEqual({ name: 'Eve' });
  });

  it('cannot be added where the database is not there, which is said without its SQL', async () => {
    const unreachable = drizzle(postgres('postgres://127.0.0.1:1/none'));
    const { add } = createAccessTokens({ db: unreachable });
    await expect(add('Fay')).rejects.toMatchObject({
      error: 50300,
      message: 'the database did not answer: try again',
    });
  });

  it('are no longer looked up where too many look-ups are unanswered', async () => {
    const silent = await sql.reserve();
    await silent`begin`;
    await silent`lock table access_tokens in access exclusive mode`;
    const tokens = open();
    const lookups = Array.from({ length: 101 }, () => tokens.authenticate(createToken()));
    await expect(lookups[100]).rejects.toMatchObject({ error: 50301 });
    await silent`rollback`;
    silent.release();
    expect(await Promise.all(lookups.slice(0, 100))).toEqual(Array(100).fill(undefined));
    await expect(tokens.authenticate(createToken())).resolves.toBeUndefined();
  });

  it('are refused when unknown', async () => {
    const tokens = open();
    await tokens.add('Cleo');
    for (const token of ['', 'plant_', createToken(), 'Cleo']) {
      expect(await tokens.authenticate(token)).toBeUndefined();
    }
  });

  it('are accepted without the database when trusted', async () => {
    const unreachable = drizzle(postgres('postgres://127.0.0.1:1/none'));
    const tokens = createAccessTokens({ db: unreachable });
    tokens.trust('environment', 'secret');
    expect(await tokens.authenticate('secret')).toEqual({ name: 'environment' });
  });

  it('are looked up again after 30 seconds', async () => {
    const tokens = open();
    const token = await tokens.add('Dora');
    expect(await tokens.authenticate(token)).toEqual({ name: 'Dora' });
    await sql`delete from access_tokens where name = 'Dora'`;
    time += 29_999;
    expect(await tokens.authenticate(token)).toEqual({ name: 'Dora' });
    time += 1;
    expect(await tokens.authenticate(token)).toBeUndefined();
  });
});

import type postgres from 'postgres';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { openPlantStore, type PlantStore } from '../../src/plant-store.ts';
import { closeAtEnd, connectToNew } from '../fixtures/databases.ts';

// The tests change the database, as an operator might. After each change, all responses must be correct.

let sql: postgres.Sql;
let url: string;
const plant = { id: 1n, name: 'Hoya', tag: 'Apocynaceae' };

beforeEach(async () => {
  ({ databaseUrl: url, sql } = await connectToNew());
});

const open = async (databaseUrl = url) => closeAtEnd(await openPlantStore({ databaseUrl }));

/** Opens the store as a user with all privileges. Row-level security applies to this user. */
async function openAsUser(role = ''): Promise<{ store: PlantStore; user: string }> {
  await open();
  // The name of the database is unique, so it serves as the name of the user.
  const user = new URL(url).pathname.slice(1);
  await sql.unsafe(`create role ${user} login password 'first' ${role}`);
  await sql.unsafe(
    `grant all on plants, plant_deletions, plant_feed, access_tokens, webhooks to ${user}`,
  );
  const userUrl = Object.assign(new URL(url), { username: user, password: 'first' }).href;
  return { store: await open(userUrl), user };
}

const trigger = (event: string, body: string) =>
  sql.unsafe(`
    create function change() returns trigger language plpgsql as $$ begin ${body} end $$;
    create trigger change before ${event} on plants for each row execute function change()`);

describe('row-level security', () => {
  beforeEach(async () => {
    await (await open()).create(plant);
  });

  it.each([
    ['hides all plants', []],
    ['hides some plants', ["create policy others on plants using (tag <> 'Apocynaceae')"]],
    ['hides plants from reads', ['create policy inserts on plants for insert with check (true)']],
  ])('throws error 50001, not 404 or 409, when row-level security %s', async (_, policies) => {
    const { store } = await openAsUser();
    await sql`alter table plants enable row level security`;
    for (const policy of policies) await sql.unsafe(policy);
    await expect(store.create(plant)).rejects.toMatchObject({ code: 50001, databaseCode: '42501' });
    await expect(store.create({ id: 2n, name: 'Ficus' })).rejects.toMatchObject({ code: 50001 });
    const message =
      'row-level security or a rule in the database prevents this (SQLSTATE 42501): nothing was written, tell ' +
      'the operator before you send it again';
    const rejected = { code: 50001, message };
    await expect(store.get(1n)).rejects.toMatchObject(rejected);
    await expect(store.list({ limit: 10 })).rejects.toMatchObject(rejected);
    await expect(store.count()).rejects.toMatchObject(rejected);
    await expect(Array.fromAsync(store.read())).rejects.toMatchObject(rejected);
    await expect(store.delete(1n)).rejects.toMatchObject(rejected);
    await expect(store.deleteMany([1n])).rejects.toMatchObject(rejected);
    expect(await sql`select from plants`).toHaveLength(1);
  });

  it('throws error 50001, not 401, when row-level security hides access tokens', async () => {
    const { store } = await openAsUser();
    await sql`alter table access_tokens enable row level security`;
    const rejected = { code: 50001, databaseCode: '42501' };
    await expect(store.accessTokens.authenticate('unknown')).rejects.toMatchObject(rejected);
    await expect(store.accessTokens.list()).rejects.toMatchObject(rejected);
    await expect(store.accessTokens.create('a token')).rejects.toMatchObject(rejected);
  });

  it('works as usual when row-level security does not apply to the user', async () => {
    const { store } = await openAsUser('bypassrls');
    await sql`alter table plants enable row level security`;
    expect(await store.get(1n)).toMatchObject(plant);
    expect(await store.delete(1n)).toBe(true);
  });
});

describe('a rule', () => {
  it.each([
    'on insert to plants do instead nothing',
    'on insert to plants do also notify inserts',
    'on insert to plants where new.id > 1 do instead nothing',
  ])('rejects creates and allows reads when the table has the rule %s', async (rule) => {
    const store = await open();
    await store.create(plant);
    await sql.unsafe(`create rule change as ${rule}`);
    await expect(store.create({ ...plant, id: 2n })).rejects.toMatchObject({
      code: 50001,
      databaseCode: '0A000',
    });
    expect(await store.get(1n)).toMatchObject(plant);
  });

  it.each([
    'on delete to plants do instead nothing',
    'on delete to plants where old.id = 1 do instead nothing',
  ])('rejects deletes when the table has the rule %s', async (rule) => {
    const store = await open();
    await store.create(plant);
    await sql.unsafe(`create rule change as ${rule}`);
    const rejected = { code: 50001, databaseCode: '0A000' };
    await expect(store.delete(1n)).rejects.toMatchObject(rejected);
    await expect(store.deleteMany([1n])).rejects.toMatchObject(rejected);
    expect(await store.get(1n)).toMatchObject(plant);
  });
});

describe('a trigger', () => {
  it('rejects only the creates of the plants that the trigger discards', async () => {
    const store = await open();
    await trigger('insert', 'if new.id % 3 = 2 then return null; end if; return new;');
    const plantsFrom = (id: bigint) => [id, id + 1n, id + 2n].map((id) => ({ ...plant, id }));
    const message =
      'the table does not keep this plant: nothing was written, tell the operator before you send it again';
    const error = { code: 50001, message };
    expect(await store.load(plantsFrom(1n))).toMatchObject(['created', error, 'created']);
    expect(await store.createMany(plantsFrom(4n))).toMatchObject([
      { result: 'created' },
      { error },
      { result: 'created' },
    ]);
  });

  it('rejects a delete when a trigger prevents the delete', async () => {
    const store = await open();
    await store.create(plant);
    await trigger('delete', 'return null;');
    await expect(store.delete(1n)).rejects.toMatchObject({
      code: 50001,
      message:
        'the table keeps this plant: nothing was written, tell the operator before you send it again',
    });
    expect(await store.delete(2n)).toBe(false);
    expect(await store.get(1n)).toMatchObject(plant);
  });
});

describe('the error message of a write', () => {
  it.each([
    ['53100', 'cannot do this now (SQLSTATE 53100): nothing was deleted, send it again later'],
    [
      '57014',
      'did not respond: the plant may or may not be deleted, look it up before you send the delete again',
    ],
  ])(
    'says whether a delete with the SQLSTATE %s may have deleted the plant',
    async (code, message) => {
      const store = await open();
      await store.create(plant);
      await trigger('delete', `raise 'not now' using errcode = '${code}';`);
      const error = { code: 50300, message: `the database ${message}` };
      await expect(store.delete(1n)).rejects.toMatchObject(error);
    },
  );

  it('says that the store has no connection when the password has changed', async () => {
    // All databases of a server share the roles, so another test may have created this role.
    await sql`create role with_password`.catch(() => {});
    const { store, user } = await openAsUser('in role with_password');
    await store.create(plant);
    await sql.unsafe(`alter role ${user} password 'second'`);
    await sql`select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = ${user}`;
    const noConnection = 'the store has no connection to the database';
    await vi.waitFor(async () => {
      await expect(store.create(plant)).rejects.toMatchObject({
        code: 50300,
        databaseCode: '28P01',
        message: `${noConnection}: nothing was written, send it again later`,
      });
    });
    await expect(store.delete(1n)).rejects.toMatchObject({
      message: `${noConnection}: nothing was deleted, send it again later`,
    });
    await expect(store.get(1n)).rejects.toMatchObject({
      message: `${noConnection}: try again later`,
    });
  });
});

describe('a database that accepts no writes', () => {
  const setReadOnly = async (value: string) => {
    const { database } = sql.options;
    await sql.unsafe(`alter database ${database} set default_transaction_read_only = ${value}`);
    await sql`
      select pg_terminate_backend(pid, 5000) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`;
  };

  it('reads plants while the database is read-only, and writes plants again afterwards', async () => {
    const running = await open();
    await running.create(plant);
    await setReadOnly('on');
    const started = await open();
    for (const store of [running, started]) {
      await vi.waitFor(() => store.get(1n));
      const { writes, reads } = await overlapping(store);
      expect(new Set(writes)).toEqual(
        new Set([
          'the database cannot do this now (SQLSTATE 25006): nothing was written, send it again later',
        ]),
      );
      expect(reads).not.toContain('rejected');
    }
    await setReadOnly('off');
    for (const [i, store] of [running, started].entries()) {
      const create = () => store.create({ id: BigInt(10 + i), name: 'Ficus' });
      await vi.waitFor(create);
    }
  });

  /** Reads and writes at the same time. Returns the messages of the writes and the outcomes of the reads. */
  async function overlapping(store: PlantStore) {
    const writes: string[] = [];
    const reads: string[] = [];
    // The calls repeat for 1.5 s. In this time, the store tries three times to open a writable session.
    const until = performance.now() + 1_500;
    const repeat = async (call: () => Promise<unknown>) => {
      while (performance.now() < until) await call();
    };
    await Promise.all([
      repeat(() => store.create({ id: 2n, name: 'Ficus' }).catch((e) => writes.push(e.message))),
      repeat(async () => {
        const [get, list] = await Promise.allSettled([store.get(1n), store.list({ limit: 1 })]);
        reads.push(get.status, list.status);
      }),
    ]);
    return { writes, reads };
  }
});

it('deletes no plant while the table `plant_deletions` is missing', async () => {
  const store = await open();
  await store.create(plant);
  await sql`alter table plant_deletions rename to moved`;
  await expect(store.delete(plant.id)).rejects.toMatchObject({ code: 50300 });
  await expect(store.deleteMany([plant.id])).rejects.toMatchObject({ code: 50300 });
  await sql`alter table moved rename to plant_deletions`;
  expect(await store.get(plant.id)).toMatchObject(plant);
});

import type postgres from 'postgres';
import { beforeEach, describe, expect, it } from 'vitest';
import type { PlantStore } from '../../src/index.ts';
import { openAnother, openForTest, urlOf } from '../fixtures/open-store.ts';
import { freeId, newPlants } from '../fixtures/plants.ts';
import { allTables, createRole } from '../fixtures/roles.ts';

// The tests change the database, as an operator might. After each change, all responses must be correct.

let sql: postgres.Sql;
let url: string;
let store: PlantStore;
const plant = { id: 1n, name: 'Hoya', tag: 'Apocynaceae' };

beforeEach(async () => {
  const opened = await openForTest();
  ({ sql, store } = opened);
  url = urlOf(opened.options);
  await store.create(plant);
});

/** Opens the store as a user to whom row-level security applies. */
async function openAsUser(options = ''): Promise<PlantStore> {
  const { url: asUser } = await createRole(sql, url, { options, grants: [allTables] });
  return openAnother(asUser, { requireConnection: true });
}

const trigger = (event: string, body: string) =>
  sql.unsafe(`
    create function change() returns trigger language plpgsql as $$ begin ${body} end $$;
    create trigger change before ${event} on plants for each row execute function change()`);

/** An error that advises the client to tell the operator, and shows no SQL. */
const rejected = {
  code: 50001,
  message: expect.stringMatching(/^(?!.*(select|insert into|delete from)).*tell the operator/i),
};

describe('row-level security', () => {
  it.each([
    ['hides all plants', []],
    ['hides some plants', ["create policy others on plants using (tag <> 'Apocynaceae')"]],
    ['hides plants from reads', ['create policy inserts on plants for insert with check (true)']],
  ])('gives error 50001, never 200, 404 or 409, when it %s', async (_, policies) => {
    const store = await openAsUser();
    await sql`alter table plants enable row level security`;
    for (const policy of policies) await sql.unsafe(policy);
    for (const call of [
      () => store.create(plant),
      () => store.create({ ...plant, name: 'other' }),
      () => store.create({ id: freeId(), name: 'Ficus' }),
      () => store.get(1n),
      () => store.list({ limit: 10 }),
      () => store.list({ limit: 10, search: 'H' }),
      () => store.count(),
      () => store.delete(1n),
    ]) {
      await expect(call()).rejects.toMatchObject({ ...rejected, databaseCode: '42501' });
    }
    expect(await sql`select from plants`).toHaveLength(1);
  });

  it('gives error 50001, never 401, when it hides access tokens', async () => {
    const store = await openAsUser();
    await sql`alter table access_tokens enable row level security`;
    const error = { code: 50001, databaseCode: '42501' };
    await expect(store.accessTokens.authenticate('unknown')).rejects.toMatchObject(error);
    await expect(store.accessTokens.list()).rejects.toMatchObject(error);
    await expect(store.accessTokens.create('a token')).rejects.toMatchObject(error);
  });

  it('has no effect for a user who may bypass it', async () => {
    const store = await openAsUser('bypassrls');
    await sql`alter table plants enable row level security`;
    expect(await store.get(1n)).toMatchObject(plant);
    expect(await store.create(plant)).toMatchObject({ name: 'Hoya' });
    expect(await store.delete(1n)).toBe(true);
  });
});

describe('a rule', () => {
  it.each(['do instead nothing', 'do also notify inserts', 'where new.id > 1 do instead nothing'])(
    'on inserts (%s) causes an error for creates, but not for reads',
    async (rule) => {
      const [condition, action] = rule.startsWith('where')
        ? [rule.slice(0, rule.indexOf(' do')), rule.slice(rule.indexOf('do'))]
        : ['', rule];
      await sql.unsafe(`create rule change as on insert to plants ${condition} ${action}`);
      await expect(store.create({ ...plant, id: 2n })).rejects.toMatchObject({ code: 50001 });
      expect(await store.get(1n)).toMatchObject(plant);
    },
  );

  it.each(['', 'where old.id = 1'])('on deletes %s gives a delete an error', async (condition) => {
    await sql.unsafe(`create rule change as on delete to plants ${condition} do instead nothing`);
    await expect(store.delete(1n)).rejects.toMatchObject({ code: 50001 });
    expect(await store.get(1n)).toMatchObject(plant);
  });
});

describe('a trigger', () => {
  it('that discards some plants causes an error only for these plants', async () => {
    await trigger('insert', "if new.name = 'unwanted' then return null; end if; return new;");
    const plants = newPlants(200).map((each, i) => (i % 40 ? each : { ...each, name: 'unwanted' }));
    const outcomes = await Promise.allSettled(plants.map((each) => store.create(each)));
    expect(outcomes).toMatchObject(
      plants.map(({ name }) => (name === 'x' ? { value: { name } } : { reason: rejected })),
    );
    expect(await store.createMany(plants)).toMatchObject(
      plants.map(({ name }) => (name === 'x' ? { result: 'exists' } : { error: rejected })),
    );
    expect(await store.count()).toMatchObject({ count: 196 });
  });

  it('that raises an error for one plant causes an error only for this plant', async () => {
    await trigger('insert', "if new.name = 'unwanted' then raise 'no'; end if; return new;");
    const plants = newPlants(100).map((each, i) =>
      i === 50 ? { ...each, name: 'unwanted' } : each,
    );
    const outcomes = await Promise.allSettled(plants.map((each) => store.create(each)));
    const failed = outcomes.filter(({ status }) => status === 'rejected');
    expect(failed).toMatchObject([{ reason: { code: 50001, databaseCode: 'P0001' } }]);
  });

  it('that prevents deletes causes an error only when a plant has the id', async () => {
    await trigger('delete', 'return null;');
    await expect(store.delete(1n)).rejects.toMatchObject(rejected);
    expect(await store.delete(2n)).toBe(false);
    expect(await store.get(1n)).toMatchObject(plant);
  });

  it.each([
    ['53100', /nothing was deleted, send it again later/],
    ['40P01', /nothing was deleted, send it again later/],
    ['57014', /nothing was deleted, send it again later/],
  ])('that raises %s causes an error that says that nothing was deleted', async (code, message) => {
    await trigger('delete', `raise 'not now' using errcode = '${code}';`);
    const error = await store.delete(1n).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 50300, message: expect.stringMatching(message) });
    expect(error.message).not.toContain('not now');
  });

  it.each(['53100', '53200', '40001', '25006'])(
    'that raises %s gives a create a temporary error, and the plant is not stored',
    async (code) => {
      await trigger('insert', `raise 'not now' using errcode = '${code}';`);
      const [other = plant] = newPlants(1);
      await expect(store.create(other)).rejects.toMatchObject({
        code: 50300,
        databaseCode: code,
        message: expect.stringContaining('nothing was written, send it again later'),
      });
      expect(await store.get(other.id)).toBeUndefined();
    },
  );
});

it('the store rejects only the plants that do not fit into a shortened column', async () => {
  await sql`alter table plants alter name type varchar(10)`;
  const names = ['short', 'much too long', 'fits'];
  const creates = names.map((name) => store.create({ id: freeId(), name }));
  expect(await Promise.allSettled(creates)).toMatchObject([
    { value: { name: 'short' } },
    { reason: { code: 50001, databaseCode: '22001' } },
    { value: { name: 'fits' } },
  ]);
});

describe('on a database that accepts no writes', () => {
  const setReadOnly = async (value: string) => {
    const { database } = sql.options;
    await sql.unsafe(`alter database ${database} set default_transaction_read_only = ${value}`);
    await sql`
      select pg_terminate_backend(pid, 5000) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`;
  };

  it('a running store and a new store serve reads, and create plants when the database accepts writes again', async () => {
    await setReadOnly('on');
    const stores = [store, await openAnother(url)];
    for (const each of stores) {
      await expect.poll(() => each.get(1n).catch(() => {})).toMatchObject(plant);
      const error = await each.create({ id: freeId(), name: 'Ficus' }).catch((thrown) => thrown);
      expect(error).toMatchObject({
        code: 50300,
        message: expect.stringMatching(/nothing was written, send it again later|may still be/),
      });
      await expect.poll(() => each.list({ limit: 1 }).catch(() => {})).toHaveProperty('plants');
    }
    await setReadOnly('off');
    for (const each of stores) {
      const id = freeId();
      await expect
        .poll(() => each.create({ id, name: 'Ficus' }).catch(() => {}))
        .toEqual({ name: 'Ficus' });
    }
  });
});

it('a changed password causes an error that says that nothing was written', async () => {
  await sql`create role with_password`.catch(() => {}); // Another test may have created this role.
  const { role, url: asUser } = await createRole(sql, url, {
    options: "password 'first' in role with_password",
    grants: [allTables],
  });
  const store = await openAnother(asUser, { requireConnection: true });
  await sql.unsafe(`alter role ${role} password 'second'`);
  await sql`select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = ${role}`;
  await expect
    .poll(() => store.create({ id: freeId(), name: 'x' }).catch((error) => error))
    .toMatchObject({
      code: 50300,
      databaseCode: '28P01',
      message:
        'the store has no connection to the database: nothing was written, send it again later',
    });
  await expect(store.get(1n)).rejects.toMatchObject({ databaseCode: '28P01' });
});

it('a delete deletes no plant when the store cannot record the deletion', async () => {
  await sql`alter table plant_deletions rename to moved`;
  await expect(store.delete(plant.id)).rejects.toMatchObject({ code: 50300 });
  await sql`drop table if exists plant_deletions`; // The next statement fails if this table exists.
  await sql`alter table moved rename to plant_deletions`;
  expect(await store.get(plant.id)).toMatchObject(plant);
});

import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { platform } from 'node:os';
import {
  createDatabase,
  freePort,
  listen,
  startFaultProxy,
  startPostgres,
} from '@plant-store/test-setup';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { openPlantStore } from '../../src/index.ts';
import { connectForTest, openAnother, openForTest, urlOf } from '../fixtures/open-store.ts';
import { changesAfter, endOf, newPlants, summaryOf } from '../fixtures/plants.ts';
import { createRole } from '../fixtures/roles.ts';

const plant = { id: 1n, name: 'Monstera' };

/** Tries to open a store, and returns the error. */
async function errorOf(databaseUrl: string): Promise<Error> {
  const opening = openPlantStore({ databaseUrl }, { requireConnection: true });
  const error = await opening.then(
    (store) => store.close().then(() => new Error('the store was opened')),
    (error: Error) => error,
  );
  expect(error.message).not.toContain('secret');
  expect(error.message).not.toContain('\n');
  return error;
}

/** Creates a database, and returns its URL with changed parts. */
async function newUrl(parts: Partial<URL> = {}): Promise<string> {
  return Object.assign(new URL(await createDatabase(inject('postgresUrl'))), parts).href;
}

it('the store opens despite a warning of the server at the start of a session', async () => {
  const { sql, options } = await openForTest();
  await sql`update pg_database set datcollversion = '0.1' where datname = current_database()`;
  const store = await openPlantStore(options, { requireConnection: true });
  onTestFinished(() => store.close());
  expect(await store.create(plant)).toEqual({ name: plant.name });
});

describe('openPlantStore rejects with an error of one line', () => {
  it('when the password is wrong', async () => {
    const { sql, options } = await openForTest();
    // All databases of a server share the roles, so another test may have created this role.
    await sql`create role with_password`.catch(() => {});
    const { url } = await createRole(sql, urlOf(options), {
      options: "password 'right' in role with_password",
    });
    const error = await errorOf(Object.assign(new URL(url), { password: 'secret' }).href);
    expect(error.name).toBe('DatabaseSettingsError');
    expect(error.message).toMatch(
      /password authentication failed.*check the user and the password/,
    );
  });

  it('when the database does not exist', async () => {
    const error = await errorOf(await newUrl({ pathname: 'no_such_database' }));
    expect(error.name).toBe('DatabaseSettingsError');
    expect(error.message).toMatch(/"no_such_database" does not exist.*create that database/);
  });

  it('when the user does not exist', async () => {
    const error = await errorOf(await newUrl({ username: 'nobody', password: 'secret' }));
    expect(error.message).toMatch(/"nobody" does not exist.*check the user/);
  });

  it('when the host does not exist, or nothing listens on the port', async () => {
    const noHost = await errorOf(await newUrl({ hostname: 'no-such-host.invalid' }));
    expect(noHost.message).toMatch(/no-such-host.*check the host in its URL/);
    const noServer = await errorOf(await newUrl({ port: String(await freePort()) }));
    expect(noServer).toMatchObject({ kind: 'databaseUnavailable' });
  });

  it('when a server of another protocol listens on the port', async () => {
    const server = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const { port } = new URL(await listen(server));
    onTestFinished(() => void server.close());
    expect(await errorOf(await newUrl({ port }))).toBeInstanceOf(Error);
  });

  it.each([
    'none',
    'mysql://user:secret@host/plants',
    'postgres://user:secret@host:99999/plants',
    'postgres://user:secret@host/plants?sslmode=sometimes',
    'postgres://user:secret@host/plants?sslrootcert=/no/such/file',
  ])('when the URL is %s', async (databaseUrl) => {
    const { name, message } = await errorOf(databaseUrl);
    expect(name).toBe('DatabaseSettingsError');
    expect(message).toMatch(/URL|sslmode|sslrootcert/);
  });

  it.each([{}, { dataDirectory: undefined }, { dataDirectory: '' }])(
    'when plain JavaScript passes the options %j',
    async (options) => {
      const opening = openPlantStore(options as { dataDirectory: string });
      await expect(opening).rejects.toThrow(/dataDirectory/);
    },
  );
});

describe('a database that is down when the store opens', () => {
  it('causes databaseUnavailable, and is used when it is up', async () => {
    const databaseUrl = await newUrl();
    const proxy = await startFaultProxy(databaseUrl);
    onTestFinished(() => proxy.close());
    proxy.fault = 'refuse';
    const store = await openAnother(proxy.url);
    const down = { kind: 'databaseUnavailable', code: 50300 };
    await expect(store.ready()).rejects.toMatchObject(down);
    await expect(store.create(plant)).rejects.toMatchObject(down);
    await expect(store.get(1n)).rejects.toMatchObject(down);
    await expect(store.accessTokens.list()).rejects.toMatchObject(down);
    proxy.fault = 'none';
    await expect.poll(() => store.create(plant).catch(() => {})).toEqual({ name: plant.name });
    await store.ready();
    expect(await store.get(1n)).toMatchObject(plant);
  });
});

describe('a connection', () => {
  it.skipIf(platform() === 'win32')('may use a Unix domain socket', async () => {
    const { sql, options } = await openForTest();
    const [row] = await sql`
      select current_setting('unix_socket_directories') as directory, current_setting('port') as port`;
    const { pathname } = new URL(urlOf(options));
    const parameters = `host=${encodeURIComponent(row?.['directory'])}&port=${row?.['port']}`;
    const store = await openAnother(`postgres://postgres@${pathname}?${parameters}`);
    expect(await store.create(plant)).toEqual({ name: plant.name });
    const local = sql`
      select from pg_stat_activity where datname = current_database() and client_addr is null
        and backend_type = 'client backend'`;
    expect(await local).not.toHaveLength(0);
  });

  it('uses the first host of the URL that is up', async () => {
    const url = await newUrl();
    const down = await freePort();
    const store = await openAnother(url.replace('@', `@127.0.0.1:${down},`));
    await expect.poll(() => store.create(plant).catch(() => {})).toEqual({ name: plant.name });
  });

  it('works with unusual settings of the database', async () => {
    const url = await newUrl();
    const sql = connectForTest(url);
    for (const setting of [
      'array_nulls = off',
      'bytea_output = escape',
      'client_min_messages = error',
      'datestyle = German',
      "timezone = 'Asia/Tokyo'",
      "default_transaction_isolation = 'serializable'",
      'default_transaction_deferrable = on',
      'extra_float_digits = -15',
      'intervalstyle = iso_8601',
      'lock_timeout = 1',
      'standard_conforming_strings = off',
      'statement_timeout = 1',
      'synchronous_commit = off',
      'transform_null_equals = on',
    ]) {
      await sql.unsafe(`alter database ${sql.options.database} set ${setting}`);
    }
    const store = await openAnother(url);
    const after = await endOf(store);
    const named = { id: 2n, name: 'a\\\'"{NULL}', tag: 'NULL' };
    await Promise.all([plant, named].map((each) => store.create(each)));
    await store.create(plant);
    await expect(store.create({ ...plant, tag: '' })).rejects.toMatchObject({ code: 40900 });
    const { plants } = await store.list({ limit: 10 });
    expect(plants).toEqual(
      [plant, named].map((each) => ({ ...each, createdAt: expect.any(Date) })),
    );
    expect(Math.abs(Date.now() - Number(plants[0]?.createdAt))).toBeLessThan(60_000);
    expect((await store.list({ limit: 10, search: 'ONST' })).plants).toHaveLength(1);
    expect(await store.delete(1n)).toBe(true);
    await expect
      .poll(async () => summaryOf(await store.changes({ after })))
      .toEqual(['created 2', 'deleted 1']);
    const token = await store.accessTokens.create('Ann', {
      expiresAt: new Date(Date.now() + 60_000),
    });
    expect(await store.accessTokens.authenticate(token)).toMatchObject({ name: 'Ann' });
  });

  it('sets synchronous_commit to on, unless the database has remote_apply', async () => {
    const { options, sql } = await openForTest();
    const { database } = sql.options;
    for (const [setting, used] of [
      ['off', 'on'],
      ['local', 'on'],
      ['remote_write', 'on'],
      ['remote_apply', 'remote_apply'],
    ]) {
      await sql.unsafe(`alter database ${database} set synchronous_commit = ${setting}`);
      const store = await openAnother(options);
      // A trigger runs in the session of the store, and writes the setting into the name.
      await sql.unsafe(`
        create or replace function note() returns trigger language plpgsql as
          $$ begin raise log 'noted'; new.name := current_setting('synchronous_commit'); return new; end $$;
        create or replace trigger note before insert on plants for each row execute function note()`);
      const [{ id } = plant] = newPlants(1);
      await store.create({ id, name: used ?? '' });
      expect(await store.get(id)).toMatchObject({ name: used });
      await store.close();
    }
  });
});

describe('a store on a database with another encoding than UTF8', () => {
  it('rejects only the texts that the database cannot hold', async () => {
    const url = await createDatabase(inject('postgresUrl'), { encoding: 'LATIN1' });
    const store = await openAnother(url);
    const names = ['Café', '猫', 'Ficus', '🪴'];
    const creates = names.map((name, i) => store.create({ id: BigInt(i), name }));
    expect(await Promise.allSettled(creates)).toMatchObject([
      { value: { name: 'Café' } },
      { reason: { code: 40001 } },
      { value: { name: 'Ficus' } },
      { reason: { code: 40001 } },
    ]);
    const [fitting, ...others] = await Promise.allSettled([
      store.list({ tag: 'Café', limit: 1 }),
      store.list({ tag: '猫', limit: 1 }),
      store.list({ search: '猫', limit: 1 }),
      store.count({ tag: '猫' }),
      store.accessTokens.create('猫'),
    ]);
    expect(fitting).toMatchObject({ value: { plants: [] } });
    const message = expect.stringContaining('the database cannot hold this text');
    expect(others).toMatchObject(Array(4).fill({ reason: { code: 40001, message } }));
  });
});

/** The versions of Postgres that packages of Debian or Ubuntu have installed on this machine. */
const installed = existsSync('/usr/lib/postgresql')
  ? readdirSync('/usr/lib/postgresql').map((version) => ({
      version,
      initdb: `/usr/lib/postgresql/${version}/bin/initdb`,
      postgres: `/usr/lib/postgresql/${version}/bin/postgres`,
    }))
  : [];

for (const { version, ...binaries } of installed.filter(({ postgres }) => existsSync(postgres))) {
  it(`the store works on Postgres ${version}`, async () => {
    const server = await startPostgres({ fsync: 'off' }, { binaries });
    onTestFinished(() => server.stop());
    const store = await openAnother(server.url);
    const after = await endOf(store);
    const plants = newPlants(20, { name: 'Hoya', tag: 'herb' });
    await Promise.all(plants.map((each) => store.create(each)));
    await expect(store.create({ id: plants[0]?.id ?? 0n, name: 'x' })).rejects.toMatchObject({
      code: 40900,
    });
    expect((await store.list({ limit: 10, tag: 'herb' })).plants).toHaveLength(10);
    expect((await store.list({ limit: 100, search: 'oy' })).plants).toHaveLength(20);
    expect(await store.delete(plants[0]?.id ?? 0n)).toBe(true);
    expect((await changesAfter(store, after, 20)).changes).toHaveLength(20);
    const token = await store.accessTokens.create('Ann');
    expect(await store.accessTokens.authenticate(token)).toMatchObject({ name: 'Ann' });
  });
}

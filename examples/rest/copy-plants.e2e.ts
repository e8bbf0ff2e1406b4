import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  createDatabase,
  type FaultProxy,
  startFaultProxy,
  startOnPostgres,
} from '@plant-store/test-setup';
import postgres from 'postgres';
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  inject,
  it,
  onTestFinished,
} from 'vitest';

let server: Awaited<ReturnType<typeof startOnPostgres>>;
let proxy: FaultProxy;
let sql: postgres.Sql;

beforeAll(async () => {
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  sql = postgres(databaseUrl);
  server = await startOnPostgres(databaseUrl);
  proxy = await startFaultProxy(server.env.PLANT_STORE_URL);
});

afterAll(async () => {
  proxy.close();
  await server.stop();
  await sql.end();
});

beforeEach(async () => void (await sql`delete from plants`));

const send = (path: string, init: RequestInit) =>
  fetch(`${server.env.PLANT_STORE_URL}${path}`, {
    ...init,
    headers: {
      authorization: `Bearer ${server.env.PLANT_STORE_TOKEN}`,
      'content-type': 'application/json',
    },
  });
const create = (id: bigint, name: string) =>
  send('/plants', { method: 'POST', body: `{"id":${id},"name":${JSON.stringify(name)}}` });
const replace = (id: bigint, name: string) =>
  send(`/plants/${id}`, { method: 'PUT', body: JSON.stringify({ name }) });
const remove = (id: bigint) => send(`/plants/${id}`, { method: 'DELETE' });

const programs = [{ language: 'Python', command: 'python3', file: 'copy-plants.py' }].filter(
  ({ command }) => spawnSync(command, ['--version']).status === 0,
);

describe.each(programs)('the $language program that copies plants', ({ command, file }) => {
  let database: string;

  beforeEach(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'plant-store-copy-'));
    database = join(directory, 'plants.sqlite');
    return () => rm(directory, { recursive: true });
  });

  function start(token = server.env.PLANT_STORE_TOKEN) {
    const env = { PLANT_STORE_URL: new URL(proxy.url).origin, PLANT_STORE_TOKEN: token };
    const child = spawn(command, [file, database], { env, stdio: ['ignore', 'inherit', 'pipe'] });
    let errors = '';
    child.stderr.on('data', (text) => {
      errors += text;
    });
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    const kill = async () => {
      child.kill('SIGKILL');
      await ended;
    };
    onTestFinished(kill);
    return { kill, ended, errors: () => errors };
  }

  function open(): DatabaseSync {
    return new DatabaseSync(database, { readBigInts: true, timeout: 10_000 });
  }

  /** Waits until the copy contains exactly the expected plants. */
  const has = (...expected: [bigint, string][]) =>
    expect
      .poll(
        () => {
          const copy = open();
          try {
            const rows = copy.prepare('select id, name from plants order by id').all();
            return rows.map(({ id, name }) => [id, name]);
          } catch (error) {
            return error; // The copy has no table yet.
          } finally {
            copy.close();
          }
        },
        { timeout: 60_000, interval: 50 },
      )
      .toEqual(expected);

  it('copies every plant exactly, and follows the changes', async () => {
    await create(9007199254740993n, 'Monstera 🪴');
    await create(-(2n ** 63n), 'Hoya');
    start();
    await has([-(2n ** 63n), 'Hoya'], [9007199254740993n, 'Monstera 🪴']);
    await replace(-(2n ** 63n), 'Hoya carnosa');
    await has([-(2n ** 63n), 'Hoya carnosa'], [9007199254740993n, 'Monstera 🪴']);
    await remove(9007199254740993n);
    await create(9007199254740993n, 'Ficus');
    await create(9007199254740994n, 'Pilea');
    await remove(-(2n ** 63n));
    await has([9007199254740993n, 'Ficus'], [9007199254740994n, 'Pilea']);
  });

  it('continues at the stored cursor after kill -9 and after a lost connection', async () => {
    await create(1n, 'Monstera');
    const { kill } = start();
    await has([1n, 'Monstera']);
    await kill();
    const copy = open();
    copy.exec("insert into plants (id, name) values (7, 'only a new list would remove it')");
    copy.close();
    await create(2n, 'Hoya');
    start();
    const old: [bigint, string] = [7n, 'only a new list would remove it'];
    await has([1n, 'Monstera'], [2n, 'Hoya'], old);
    proxy.fault = 'refuse';
    await remove(1n);
    proxy.fault = 'none';
    await has([2n, 'Hoya'], old);
  });

  it('deletes all copied plants and lists the plants again when the cursor has expired', async () => {
    await create(1n, 'Monstera');
    await create(2n, 'Hoya');
    start();
    await has([1n, 'Monstera'], [2n, 'Hoya']);
    await sql`delete from plants where id = 1`; // The feed does not show this delete.
    await sql`update plant_feed set epoch = gen_random_uuid()`;
    await has([2n, 'Hoya']);
  });

  it('ends after an error that a retry cannot solve', async () => {
    const { ended, errors } = start('unknown-token-of-nobody');
    expect(await ended).toBe(1);
    expect(errors()).toContain('"error":40101');
  });
});

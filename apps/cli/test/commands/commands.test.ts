import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPlantStore } from '@plant-store/core';
import { createDatabase, startProcess } from '@plant-store/test-setup';
import postgres from 'postgres';
import { beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { examine } from '../../src/doctor/run-checks.ts';
import { buildProgram } from '../../src/program.ts';
import { migrated } from '../fixtures/migrated.ts';
import { run } from '../fixtures/run-program.ts';

/** For tests that leave the store as it was, or use names of their own. */
let env: { DATABASE_URL: string };

beforeAll(async () => {
  env = { DATABASE_URL: await createDatabase(inject('postgresUrl')) };
  const store = await openPlantStore({ databaseUrl: env.DATABASE_URL });
  await store.load([
    { id: -1n, name: 'Pilea' },
    { id: 1n, name: 'Monstera deliciosa', tag: 'Araceae' },
    { id: 9007199254740994n, name: 'Hoya carnosa', tag: 'Araceae' },
    { id: 9007199254740993n, name: 'Anthurium', tag: 'Araceae' },
    { id: 2n, name: 'Ficus lyrata', tag: 'Moraceae' },
  ]);
  await store.close();
});

const idsIn = (stdout: string) => stdout.match(/(?<="id":)-?\d+/g);

it('shows a plant by its id', async () => {
  const { stdout } = await run(['get', '-1'], { env });
  const { createdAt, ...plant } = JSON.parse(stdout);
  expect(plant).toEqual({ id: -1, name: 'Pilea' });
  expect(new Date(createdAt).toISOString()).toBe(createdAt);
});

it('shows plants in order of id, of a tag, after an id, and so many at the most', async () => {
  const args = ['list', '--tag', 'Araceae', '--after', '-1', '--limit', '2'];
  expect(idsIn((await run(args, { env })).stdout)).toEqual(['1', '9007199254740993']);
});

describe('what cannot be done is said in one line on stderr', () => {
  const usage = 2;

  it.each([
    [['get', '7'], 1, 'plant-store: no plant has the id 7: see plant-store list\n'],
    [
      ['token', 'create', 'x', '--expires', '0d'],
      usage,
      "error: option '--expires <time>' argument '0d' is invalid. It must be a time such as 90d, 12h or 30m.\n",
    ],
  ])('%j', async (args, code, stderr) => {
    expect(await run(args, { env })).toEqual({ code, stdout: '', stderr });
  });

  it.each([
    [['lst'], "unknown command 'lst'"],
    [['get', '1.5'], "value '1.5' is invalid for argument 'id'. It must be an integer from"],
    [['list', '--limit', '0'], "argument '0' is invalid. It must be a whole number from 1."],
    [['export', '--since', 'soon'], 'must be like 2026-11-01, 2026-11-01T09:30:00Z or 24h.'],
    [['export', '--since', '2026-13-01'], 'It must be like 2026-11-01'],
    [['export', '--format', 'xml'], 'Allowed choices are ndjson, csv.'],
    [['import', 'none.csv'], 'none.csv cannot be read: check its name and its permissions'],
    [['import', '.', '--format', 'csv'], '. cannot be read: it is a directory, name a file'],
    [['import', 'plants.txt'], 'the format of plants.txt is not clear: add --format ndjson'],
    [
      ['import', 'package.json', '--format', 'csv', '--rejects', './package.json'],
      './package.json is what is imported: name another file with --rejects',
    ],
    [['token', 'revoke', 'nobody'], 'there is no token to revoke under "nobody": see plant-store'],
    [['token', 'create', ''], 'invalid input: name must be 1 to 100 characters'],
  ])('%j', async (args, message) => {
    vi.stubEnv('DATABASE_URL', env.DATABASE_URL);
    vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    await expect(buildProgram().parseAsync(args, { from: 'user' })).rejects.toThrow(message);
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  });

  it('when the header of a CSV lacks a column', async () => {
    const args = ['import', '-', '--format', 'csv', '--rejects', join(tmpdir(), 'none')];
    const { code, stderr } = await run(args, { env, input: 'Id;Name\n1;x\n' });
    expect(stderr).toContain(
      'must name the columns id and name, and may name tag; it names "Id;Name"',
    );
    expect(code).toBe(1);
  });

  it('when the database is not there, with the cause where it is asked for', async () => {
    const away = { DATABASE_URL: 'postgres://someone:hidden@127.0.0.1:1/plants' };
    const [short, long] = await Promise.all([
      run(['list'], { env: away }),
      run(['list', '--verbose'], { env: away }),
    ]);
    expect(short.stderr).toMatch(/^plant-store: cannot open the database \(.*ECONNREFUSED.*\n$/);
    expect(long.stderr).toMatch(/^plant-store: cannot open the database \(.*\n(.*\n)*.* at /);
    expect(short.stderr + long.stderr).not.toContain('hidden');
  });
});

it('says who has the embedded database open, and reads it when that has ended', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-cli-'));
  const embedded = { PLANT_STORE_DATA_DIR: directory };
  const server = startProcess(embedded);
  await server.printed(/Add a plant/);
  const held = `${directory} is in use by process ${server.child.pid}, started `;
  const [list, doctor] = await Promise.all([
    run(['list'], { env: embedded }),
    run(['doctor'], { env: embedded }),
  ]);
  expect(list.stderr).toContain(`plant-store: the data directory ${held}`);
  expect(list.code).toBe(1);
  expect(doctor.stdout).toContain(held);
  expect(doctor.code).toBe(1);

  server.child.kill();
  await server.ended();
  const after = await run(['doctor'], { env: embedded });
  expect(after.stdout).toMatch(/^ok +migrations +all are applied$/m);
  expect(after.stdout).toMatch(/^warning +durability +the embedded database may lose plants/m);
  expect(after.code).toBe(0);
  await rm(directory, { recursive: true });
});

it('makes an access token that it shows once, tells of it, and revokes it', async () => {
  const made = await run(['token', 'create', 'partner', '--expires', '90d'], { env });
  const token = made.stdout.trimEnd();
  expect(token).toMatch(/^plant_[\w-]{43}$/);
  expect(made.stderr).toBe('Keep this token: it is not shown again.\n');

  const principal = async () => {
    const store = await openPlantStore({ databaseUrl: env.DATABASE_URL });
    const found = await store.accessTokens.authenticate(token);
    await store.close();
    return found;
  };
  expect(await principal()).toEqual({ name: 'partner' });

  const listed = JSON.parse((await run(['token', 'list'], { env })).stdout);
  expect(listed).toMatchObject({ name: 'partner', revokedAt: null });
  const days = (Date.parse(listed.expiresAt) - Date.parse(listed.createdAt)) / 86_400_000;
  expect(days).toBeCloseTo(90, 2);
  expect(JSON.stringify(listed)).not.toContain(token);

  expect((await run(['token', 'revoke', 'partner'], { env })).code).toBe(0);
  expect(await principal()).toBeUndefined();
});

describe('the doctor', () => {
  const findings = async (url: string) => {
    vi.stubEnv('DATABASE_URL', url);
    const found = await examine();
    vi.unstubAllEnvs();
    const wrong = found.filter(({ level }) => level !== 'ok');
    return { found, wrong: wrong.map(({ check, message }) => `${check}: ${message}`) };
  };

  it('finds what a database is set to that may lose plants', async () => {
    const url = await createDatabase(inject('postgresUrl'));
    const sql = await migrated({ DATABASE_URL: url });
    const [, database] = /([^/]+)$/.exec(url) ?? [];
    await sql.unsafe(`alter database ${database} set synchronous_commit = off`);
    await sql.end();
    expect((await findings(url)).wrong).toEqual([
      // As every Postgres of these tests is.
      'durability: fsync is off, a crash of the machine may destroy the database: set it to on',
      'durability: synchronous_commit is off, a crash may lose the last plants: set it to on',
    ]);
    const { code, stdout } = await run(['doctor'], { env: { DATABASE_URL: url } });
    expect(stdout).toMatch(/^ok +connection +Postgres \d/m);
    expect(stdout).toMatch(/^problem +durability +fsync is off/m);
    expect(code).toBe(1);
  });

  it('finds what is missing in a database that is empty or read-only, and leaves it so', async () => {
    const url = await createDatabase(inject('postgresUrl'));
    expect((await findings(`${url}?default_transaction_read_only=on`)).wrong).toEqual([
      expect.stringMatching(
        /^connection: Postgres [\d.]+, UTF8, is read-only: connect to the prim/,
      ),
      expect.stringMatching(/^migrations: \d are missing: start the server, which applies them$/),
      expect.stringMatching(/^durability: fsync is off/),
    ]);
    const sql = postgres(url);
    expect(await sql`select from pg_tables where schemaname = 'public'`).toHaveLength(0);
    await sql.end();
  });

  it('names the database without what is secret about it', async () => {
    const url = 'postgres://someone:hi@dden@127.0.0.1:1/plants?password=x';
    expect((await findings(url)).found).toEqual([
      { check: 'configuration', level: 'ok', message: 'the Postgres at 127.0.0.1:1/plants' },
      {
        check: 'connection',
        level: 'problem',
        message: expect.stringMatching(/ECONNREFUSED 127\.0\.0\.1:1: check DATABASE_URL/),
      },
    ]);
  });

  it('finds a setting that is not valid, and shows no secret', async () => {
    expect((await findings('mysql://u:hidden@h/d')).wrong).toEqual([
      expect.stringMatching(
        /^configuration: DATABASE_URL is not valid: set postgres:\/\/user:pass/,
      ),
    ]);
  });
});

const every = buildProgram().commands.flatMap((command) => [command, ...command.commands]);

it.each(every.map((command) => [command.name(), command] as const))(
  '%s has an example',
  (_, command) => {
    let help = '';
    command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
    expect(help).toMatch(/\nExamples?:\n {2}plant-store \w/);
  },
);

import { rm } from 'node:fs/promises';
import { beforeAll, expect, it } from 'vitest';
import { useDatabase } from '../fixtures/database.ts';
import { run } from '../fixtures/run-program.ts';

const database = useDatabase({ isShared: true, isMigrated: true });
const { env } = database;

beforeAll(async () => {
  await database.sql`insert into plants (id, name, tag) values (1, 'Hoya', 'a'), (-2, 'Pilea', null)`;
});

const createdAt = expect.stringMatching(/^[\d-]+T[\d:.]+Z$/);

it.each([
  ['count --json', { count: 2 }],
  ['count --tag a --json', { count: 1 }],
  ['get 1 --json', { id: 1, name: 'Hoya', tag: 'a', createdAt }],
  ['get -2', { id: -2, name: 'Pilea', createdAt }],
  ['list --limit 1 --json', { id: -2, name: 'Pilea', createdAt }],
  [
    'token create Ann --json',
    {
      name: 'Ann',
      scopes: ['plants:create', 'plants:read'],
      token: expect.stringMatching(/^plant_/),
    },
  ],
  ['token list --json', { name: 'Ann' }],
  ['token revoke Ann --json', { name: 'Ann' }],
])('%s writes JSON', async (command, expected) => {
  const { code, stdout } = await run(command.split(' '), { env });
  expect(JSON.parse(stdout)).toMatchObject(expected);
  expect(code).toBe(0);
});

it.each([
  ['get 7 --json', 1, { error: 40401, message: expect.stringContaining('no plant has the') }],
  ['get x --json', 2, { error: 40001, message: expect.stringContaining("value 'x' is inv") }],
  ['get 7 --jsn --json', 2, { error: 40001, message: expect.stringContaining('Did you mean') }],
  ['delete 7 --json', 2, { error: 40001, message: expect.stringContaining('add --yes') }],
  ['token revoke nobody --json', 1, { error: 40402, message: expect.any(String) }],
  ['token create  --json', 2, { error: 40001, message: expect.any(String) }],
])(
  '%s writes the error as JSON to standard output, and as a line to standard error',
  async (command, exit, body) => {
    const { code, stdout, stderr } = await run(command.split(' '), { env });
    expect(JSON.parse(stdout)).toEqual(body);
    expect(stderr).toMatch(/^plant-store: .+\n$/);
    expect(code).toBe(exit);
  },
);

it.each(['get 1', 'list', 'delete 1 --yes', 'token create x', 'follow'])(
  '%s --json writes the error as JSON when the database is unreachable',
  async (command) => {
    const unreachable = { DATABASE_URL: 'postgres://127.0.0.1:1/plants' };
    const { code, stdout } = await run([...command.split(' '), '--json'], { env: unreachable });
    expect(JSON.parse(stdout)).toEqual({
      error: 50300,
      message: expect.stringMatching(/^nothing accepts connections there \(.*ECONNREFUSED/),
    });
    expect(code).toBe(1);
  },
);

it.each(['list', 'export', 'delete 1 --yes', 'token revoke x', 'feed on'])(
  '%s creates no data directory',
  async (command) => {
    const directory = `${env.DATABASE_URL.split('/').at(-1)}-none`;
    const { code, stderr } = await run(command.split(' '), {
      env: { PLANT_STORE_DATA_DIR: directory },
    });
    expect(stderr).toMatch(
      /^plant-store: there is no store in .*-none: start the server or import/,
    );
    expect(code).toBe(1);
    await expect(rm(directory)).rejects.toMatchObject({ code: 'ENOENT' });
  },
);

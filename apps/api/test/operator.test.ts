import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { createPlantStoreClient } from '@plant-store/client';
import { createDatabase, runSql, startOnPostgres } from '@plant-store/test-setup';
import { beforeAll, expect, inject, test } from 'vitest';

const program = fileURLToPath(new URL('../bin/server.js', import.meta.url));
let databaseUrl: string;

beforeAll(async () => {
  databaseUrl = await createDatabase(inject('postgresUrl'));
});

/** Runs one of the operator's commands. */
function run(...args: string[]) {
  const env = { PATH: process.env['PATH'], DATABASE_URL: databaseUrl };
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    env,
    encoding: 'utf8',
  });
  return { code: status, stdout, stderr };
}

test('token create makes the first token of a Postgres', async () => {
  const { code, stdout } = run(
    'token',
    'create',
    'first',
    '--scopes',
    'tokens:manage',
    'plants:read',
  );
  expect(code).toBe(0);
  const server = await startOnPostgres(databaseUrl);
  const client = createPlantStoreClient({ url: server.env.PLANT_STORE_URL, token: stdout.trim() });
  expect(await client.whoAmI.query()).toMatchObject({
    name: 'first',
    scopes: ['tokens:manage', 'plants:read'],
  });
  await server.stop();
});

test('sql prints the statements of docs/statements.sql, and Postgres can plan each of them', async () => {
  const { code, stdout } = run('sql');
  expect(code).toBe(0);
  const file = new URL('../../../docs/statements.sql', import.meta.url);
  const advice = 'run npx -y pnpm --silent plant-store-server sql > docs/statements.sql';
  expect(stdout, advice).toBe(await readFile(file, 'utf8'));
  const prepared = stdout.split('\n\n').map((each, i) => each.replace(/\n/, `\nprepare s${i} as `));
  expect(prepared.length).toBeGreaterThan(30);
  await runSql(databaseUrl, prepared.join('\n'));
});

test('doctor finds what is wrong, and says what to do', async () => {
  expect(run('doctor').code).toBe(0);
  await runSql(databaseUrl, 'create rule keep as on delete to plants do instead nothing');
  const { code, stdout } = run('doctor', '--json');
  expect(code).toBe(1);
  const findings = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(findings).toContainEqual(expect.objectContaining({ check: 'trial', level: 'problem' }));
});

test('an unknown command gets code 2', () => {
  expect(run('nothing')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('unknown command'),
  });
});

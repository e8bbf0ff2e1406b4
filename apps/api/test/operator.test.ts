import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { createDatabase, runSql } from '@plant-store/test-setup';
import { beforeAll, expect, inject, test } from 'vitest';
import { startForTest } from './fixtures/server.ts';
import { rest } from './fixtures/surfaces.ts';

const program = fileURLToPath(new URL('../bin/server.js', import.meta.url));
let databaseUrl: string;

beforeAll(async () => {
  databaseUrl = await createDatabase(inject('postgresUrl'));
});

/** Runs one of the operator's commands. */
function run(command: string) {
  const env = { PATH: process.env['PATH'], DATABASE_URL: databaseUrl };
  const options = { env, encoding: 'utf8' } as const;
  const args = [program, ...command.split(' ')];
  const { status: code, stdout, stderr } = spawnSync(process.execPath, args, options);
  return { code, stdout, stderr };
}

test('token create makes the first token on a Postgres', async () => {
  const { code, stdout } = run('token create first --scopes tokens:manage plants:read');
  expect(code).toBe(0);
  const { url } = await startForTest({}, { databaseUrl });
  const { output } = await rest.call({ url, token: stdout.trim() }, 'whoAmI');
  expect(output).toMatchObject({ name: 'first', scopes: ['tokens:manage', 'plants:read'] });
});

test('sql prints the statements of docs/statements.sql, and Postgres can prepare each of them', async () => {
  const { code, stdout } = run('sql');
  expect(code).toBe(0);
  const file = new URL('../../../docs/statements.sql', import.meta.url);
  const advice = 'run npx -y pnpm --silent plant-store-server sql > docs/statements.sql';
  expect(stdout, advice).toBe(await readFile(file, 'utf8'));
  const prepared = stdout.split('\n\n').map((each, i) => each.replace(/\n/, `\nprepare s${i} as `));
  expect(prepared.length).toBeGreaterThan(30);
  await runSql(databaseUrl, prepared.join('\n'));
});

test('doctor exits with code 1 when it finds a problem', async () => {
  expect(run('doctor').code).toBe(0);
  await runSql(databaseUrl, 'create rule keep as on delete to plants do instead nothing');
  const { code, stdout } = run('doctor --json');
  expect(code).toBe(1);
  const findings = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(findings).toContainEqual(expect.objectContaining({ check: 'trial', level: 'problem' }));
});

test('an unknown command exits with code 2', () => {
  expect(run('nothing')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('unknown command'),
  });
});

import { createDatabase } from '@plant-store/test-setup';
import postgres from 'postgres';
import { beforeEach, expect, inject, it } from 'vitest';
import { plantLines, rejectedRows, useDirectory } from '../fixtures/plant-files.ts';
import { run } from '../fixtures/run-program.ts';

const directory = useDirectory();

let env: { DATABASE_URL: string };

beforeEach(async () => {
  env = { DATABASE_URL: await createDatabase(inject('postgresUrl')) };
});

it('checks a whole file with --dry-run, without a database', async () => {
  const unreachable = { DATABASE_URL: 'postgres://someone@127.0.0.1:1/plants' };
  const lines = [...plantLines(20_000)].join('');
  const file = await directory.write('plants.ndjson', `${lines}{"id":"x"}\n`);
  const args = ['import', file, '--dry-run'];
  const { code, stdout } = await run(args, { env: unreachable });
  expect(code).toBe(3);
  expect(stdout).toContain('20001 rows: 20000 valid, 1 rejected, nothing is stored (');
  const json = await run([...args, '--json'], { env: unreachable });
  const counts = { rows: 20_001, valid: 20_000, created: 0, rejected: 1 };
  expect(JSON.parse(json.stdout)).toMatchObject({ isDryRun: true, ...counts });
  expect(await rejectedRows(file)).toMatchObject([
    { line: 20_001, reason: expect.stringMatching(/^invalid input: id "x" must .*; name is miss/) },
  ]);
});

it('stops with --strict at the first rejected row, and reports the exact number of stored rows', async () => {
  const [before, after] = [[...plantLines(15_000)], [...plantLines(40_000)].slice(15_000)];
  const file = await directory.write('a.ndjson', [...before, '{"id":-1}\n', ...after].join(''));
  const { code, stdout, stderr } = await run(['import', file, '--strict', '--json'], { env });
  expect(code).toBe(3);
  const [stored] = await query('select count(*)::int as created from plants');
  expect(stored?.['created']).toBeGreaterThanOrEqual(15_000);
  expect(JSON.parse(stdout)).toMatchObject({ ...stored, rejected: 1, isComplete: false });
  expect(stderr).toMatch(/plant-store: line 15001: invalid input: name is missing: .*; the import/);
  const { lines } = JSON.parse(stdout);
  expect(stderr).toContain(
    `stopped: ${stored?.['created']} rows of lines 1 to ${lines} are stored, and 0 were before;`,
  );
});

const withConflict = '{"id":1,"name":"a"}\n{"id":1,"name":"b"}\n{"id":2}\n';

it.each([
  ['report', ['line 2', 'line 3'], 3],
  ['skip', ['line 3'], 3],
  ['fail', ['line 2', 'line 3'], 3],
])('lists the rows that belong to --on-conflict %s', async (action, listed, exitCode) => {
  const file = await directory.write('a.ndjson', withConflict);
  const args = ['import', file, '--on-conflict', action, '--json'];
  const { code, stdout, stderr } = await run(args, { env });
  expect(code).toBe(exitCode);
  const counts = { rows: 3, created: 1, conflicts: 1, rejected: 1 };
  expect(JSON.parse(stdout)).toMatchObject({ ...counts, isComplete: action !== 'fail' });
  expect((await rejectedRows(file)).map(({ line }) => `line ${line}`)).toEqual(listed);
  expect(stderr.includes('line 2: id 1 belongs to another plant')).toBe(action === 'fail');
});

it.each([':', 'tab'])('separates the fields by --delimiter %s', async (delimiter) => {
  const row = ['1', 'Monstera'].join(delimiter === 'tab' ? '\t' : delimiter);
  const header = ['id', 'name'].join(delimiter === 'tab' ? '\t' : delimiter);
  const file = await directory.write('plants.csv', `${header}\n${row}\n`);
  expect(await run(['import', file, '--delimiter', delimiter], { env })).toMatchObject({ code: 0 });
  expect(await query('select name from plants')).toEqual([{ name: 'Monstera' }]);
});

it('ends with exit code 0 when all conflicts are skipped', async () => {
  const file = await directory.write('a.ndjson', withConflict.replace('{"id":2}\n', ''));
  const args = ['import', file, '--on-conflict', 'skip', '--strict'];
  const { code, stdout } = await run(args, { env });
  expect(stdout).toMatch(/^2 rows: 1 created, 0 existed, 1 conflicts, 0 rejected \([^;]*\)\n/);
  expect(code).toBe(0);
});

it('writes only warnings, errors and the summary as JSON when --quiet is set', async () => {
  const file = await directory.write('a.csv', 'id,name\n1,a\n');
  expect(await run(['import', file, '--quiet'], { env })).toEqual({
    ...{ code: 0, stdout: '', stderr: '' },
  });
  const { stdout, stderr } = await run(['import', file, '--quiet', '--json'], { env });
  expect(JSON.parse(stdout)).toMatchObject({ exists: 1 });
  expect(stderr).toBe('');
});

async function query(text: string) {
  const sql = postgres(env.DATABASE_URL);
  const rows = await sql.unsafe(text);
  await sql.end();
  return rows;
}

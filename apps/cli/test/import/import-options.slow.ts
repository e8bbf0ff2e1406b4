import { expect, it } from 'vitest';
import { useDatabase } from '../fixtures/database.ts';
import { plantLines, rejectedRows, useDirectory } from '../fixtures/plant-files.ts';
import { run } from '../fixtures/run-program.ts';

const directory = useDirectory();

const database = useDatabase();
const { env } = database;

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

it.each([
  ['report', ['line 2', 'line 3'], 3],
  ['skip', ['line 3'], 3],
  ['fail', ['line 2', 'line 3'], 3],
])('lists the rejected rows with --on-conflict %s', async (action, listed, exitCode) => {
  const file = await directory.write(
    'a.ndjson',
    '{"id":1,"name":"a"}\n{"id":1,"name":"b"}\n{"id":2}\n',
  );
  const args = ['import', file, '--on-conflict', action, '--json'];
  const { code, stdout, stderr } = await run(args, { env });
  expect(code).toBe(exitCode);
  const counts = { rows: 3, created: 1, conflicts: 1, rejected: 1 };
  expect(JSON.parse(stdout)).toMatchObject({ ...counts, isComplete: action !== 'fail' });
  expect((await rejectedRows(file)).map(({ line }) => `line ${line}`)).toEqual(listed);
  expect(stderr.includes('line 2: id 1 belongs to another plant')).toBe(action === 'fail');
});

it.each([':', 'tab'])('separates the fields by --delimiter %s', async (delimiter) => {
  const text = 'id;name\n1;Monstera\n'.replaceAll(';', delimiter === 'tab' ? '\t' : delimiter);
  const file = await directory.write('plants.csv', text);
  expect(await run(['import', file, '--delimiter', delimiter], { env })).toMatchObject({ code: 0 });
  expect(await database.sql`select name from plants`).toEqual([{ name: 'Monstera' }]);
});

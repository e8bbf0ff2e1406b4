import { createDatabase } from '@plant-store/test-setup';
import { beforeEach, expect, inject, it } from 'vitest';
import { rejectedRows, useDirectory } from '../fixtures/plant-files.ts';
import { run } from '../fixtures/run-program.ts';

const directory = useDirectory();

let env: { DATABASE_URL: string };

beforeEach(async () => {
  env = { DATABASE_URL: await createDatabase(inject('postgresUrl')) };
});

const swallowed = (lines: string, next: number) =>
  `(lines ${lines} were read as one row because of a quote; the import goes on at line ${next})`;

it.each([
  ['the end of the file', '203,"c,x\n204,d,y\n205,e,z\n206,f,\n', 'has a quoted field without'],
  ['the next quoted field', '203,"c,x\n204,d,y\n205,e,z\n206,"f",\n', 'has text after the closing'],
  ['a record of another length', '203,"c,x\n204,d,y\n205,e,z\n206,f"\n', 'has 2 fields, but'],
])('rejects only the line of a forgotten quote that reaches to %s', async (_, lines, error) => {
  const file = await directory.write('plants.csv', `id,name,tag\n202,b,\n${lines}`);
  const { code, stdout } = await run(['import', file, '--json'], { env });
  expect(code).toBe(3);
  const isLastValid = !lines.endsWith('f"\n');
  expect(JSON.parse(stdout)).toMatchObject({
    ...{ lines: 6, header: 1, blank: 0, continued: 0, rows: 5, exists: 0, conflicts: 0 },
    ...(isLastValid ? { created: 4, rejected: 1 } : { created: 3, rejected: 2 }),
  });
  const reason = expect.stringContaining(error);
  const [first] = await rejectedRows(file);
  expect(first).toMatchObject({ line: 3, reason });
  expect(first).toMatchObject({ reason: expect.stringContaining(swallowed('3 to 6', 4)) });
});

it('rejects only the line of a forgotten quote in a big file', async () => {
  const rows = Array.from({ length: 200_000 }, (_, i) => `${i},Hoya carnosa\n`);
  const file = await directory.write('plants.csv', `id,name\n-1,"Hoya\n${rows.join('')}`);
  const { stdout } = await run(['import', file, '--json'], { env });
  expect(JSON.parse(stdout)).toMatchObject({ lines: 200_002, created: 200_000, rejected: 1 });
  const reason = expect.stringContaining(swallowed('2 to 200002', 3));
  expect(await rejectedRows(file)).toEqual([{ line: 2, reason }]);
});

it('counts the further lines of a valid record with newlines', async () => {
  const file = await directory.write('plants.csv', 'id,name\n1,"one\n\ntwo"\n2,"a\r\nb"\r\n');
  const { stdout } = await run(['import', file], { env });
  expect(stdout).toContain('2 rows: 2 created, 0 existed, 0 conflicts, 0 rejected');
  expect(stdout).toContain('\n6 lines: 2 rows, 1 header, 3 inside quoted fields\n');
});

it('warns when a valid record with newlines seems to contain a row', async () => {
  const input = 'id,name\n1,"one\n2,two\n3,three"\n4,"a,\n b, \nc"\n';
  const { code, stderr } = await run(['import', '-', '--format', 'csv', '--quiet'], { env, input });
  expect(code).toBe(0);
  expect(stderr).toBe(
    'plant-store: lines 2 to 4 are one row, but line 3 in it looks like a row: check the quotes\n',
  );
});

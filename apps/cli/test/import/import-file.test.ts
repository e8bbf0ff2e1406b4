import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { migratedDatabase, useDatabase } from '../fixtures/database.ts';
import { plantLines, rejectedRows, rejectsOf, useDirectory } from '../fixtures/plant-files.ts';
import { run } from '../fixtures/run-program.ts';

const directory = useDirectory();

const database = useDatabase();
const { env } = database;

it('stores the plants of an NDJSON file, counts existing plants, and lists rejected rows', async () => {
  const file = await directory.write(
    'plants.ndjson',
    `{"id":9007199254740993,"name":"Monstera deliciosa","tag":"Araceae"}
{"id":1,"name":"Ficus lyrata"}

not a plant
{"id":1,"name":"Hoya carnosa"}
{"id":1,"name":"Ficus lyrata","height":3}
{"id":"2","name":"Pilea"}
{"id":-9223372036854775808,"name":"Hoya","tag":""}
`,
  );
  const first = await run(['import', file, '--json'], { env });
  expect(first.code).toBe(3);
  const counts = {
    lines: 8,
    header: 0,
    blank: 1,
    continued: 0,
    rows: 7,
    conflicts: 1,
    rejected: 2,
  };
  const expected = { ...counts, isComplete: true, rejectsFile: rejectsOf(file) };
  expect(JSON.parse(first.stdout)).toMatchObject({ ...expected, created: 3, exists: 1 });
  expect(await rejectedRows(file)).toEqual([
    { line: 4, reason: expect.stringMatching(/^is not JSON: /), row: 'not a plant' },
    {
      ...{ line: 5, reason: 'id 1 belongs to another plant: choose an id that is free' },
      ...{ id: 1, name: 'Hoya carnosa' },
    },
    {
      ...{
        line: 7,
        reason: expect.stringMatching(/^invalid input: id "2" must be an integer from/),
      },
      ...{ id: '2', name: 'Pilea' },
    },
  ]);

  const again = await run(['import', file, '--json'], { env });
  expect(JSON.parse(again.stdout)).toMatchObject({ ...expected, created: 0, exists: 4 });
});

it('reads CSV columns in any order, and lists the rows that are not plants', async () => {
  const file = await directory.write(
    'plants.csv',
    Buffer.concat([
      Buffer.from('\ufeffname,height,id,tag\r\n"two\r\nlines, one ""tag""",3,1,""\r\n\r\n'),
      Buffer.from('no tag,,2,\r\n,,3,no name\r\nshort,4\r\n'),
      Buffer.from([0xff, 0x0a]),
      Buffer.from('a "quote",,5,x\r\n"closed"early,,6,x\r\nlast,,7,"never closed'),
    ]),
  );
  const { code, stdout } = await run(['import', file], { env });
  expect(code).toBe(3);
  expect(stdout).toContain('8 rows: 2 created, 0 existed, 0 conflicts, 6 rejected (');
  expect(stdout).toContain(`; see ${rejectsOf(file)} for the reasons\n`);
  expect(stdout).toContain('\n11 lines: 8 rows, 1 header, 1 blank, 1 inside quoted fields\n');
  expect(await rejectedRows(file)).toEqual([
    { line: 6, reason: 'invalid input: name is missing: it must be a string' },
    { line: 7, reason: 'has 2 fields, but the header has 4' },
    { line: 8, reason: expect.stringContaining('is not UTF-8') },
    { line: 9, reason: 'has a quote inside an unquoted field' },
    { line: 10, reason: 'has text after the closing quote of a field' },
    { line: 11, reason: 'has a quoted field without a closing quote' },
  ]);
  expect(await database.sql`select id, name, tag from plants order by id`).toEqual([
    { id: '1', name: 'two\r\nlines, one "tag"', tag: '' },
    { id: '2', name: 'no tag', tag: null },
  ]);
});

it('shows the progress as plain lines without a terminal, and removes the rejects file of an earlier import', async () => {
  const file = await directory.write('plants.jsonl', [...plantLines(10)].join(''));
  await mkdir(dirname(rejectsOf(file)));
  await writeFile(rejectsOf(file), 'of another import');
  const { code, stdout, stderr } = await run(['import', file], { env });
  expect(code).toBe(0);
  expect(stderr).toMatch(/^plant-store: 100%, 10 rows, \d+ rows\/s, ETA \S+$/m);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters move the cursor.
  expect(stderr).not.toMatch(/[\r\x1b]/);
  expect(stdout).toMatch(/^10 rows: 10 created, .* rows\/s\)\n10 lines: 10 rows\n$/);
  await expect(readdir(dirname(rejectsOf(file)))).rejects.toThrow('ENOENT');
});

it('stores the other rows when the database rejects one row', async () => {
  await (await migratedDatabase(env)).end();
  await database.sql`alter table plants add constraint not_250 check (id <> 250)`;
  const file = await directory.write('plants.ndjson', [...plantLines(500)].join(''));
  const { stdout } = await run(['import', file, '--json'], { env });
  expect(JSON.parse(stdout)).toMatchObject({ rows: 500, created: 499, rejected: 1 });
  expect(await rejectedRows(file)).toEqual([
    expect.objectContaining({ line: 251, reason: expect.stringContaining('SQLSTATE 23514') }),
  ]);
});

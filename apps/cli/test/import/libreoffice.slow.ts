import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { useDatabase } from '../fixtures/database.ts';
import { run } from '../fixtures/run-program.ts';

const database = useDatabase();
const { env } = database;

/**
 * LibreOffice 7 Calc has written these files from a spreadsheet of texts. The command for `comma.csv` was
 * `soffice --headless --convert-to "csv:Text - txt - csv (StarCalc):44,34,76" plants.ods`. The other commands
 * had `59,34,76`, `59,34,1,1,,0,true` and `9,34,65535` in place of `44,34,76`.
 */
const fixture = (name: string) =>
  fileURLToPath(new URL(`../fixtures/libreoffice/${name}`, import.meta.url));

it.each([
  ['comma.csv', []],
  ['semicolon.csv', []],
  ['windows-1252.csv', ['--encoding', 'windows-1252']],
  ['utf-16.tsv', []],
])('stores the plants of %s, which LibreOffice has written', async (name, options) => {
  const before = new Date();
  const args = ['import', fixture(name), '--rejects', '-', '--json', ...options];
  const { code, stdout, stderr } = await run(args, { env });
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  expect(stderr).toContain('plant-store: these columns are not used: "note"\n');
  expect(stderr).toContain('"lines":6,"header":1,"blank":0,"continued":1,"rows":4,"created":4,');
  const { sql } = database;
  const time = sql`to_char(created_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') as created_at`;
  expect(await sql`select id, name, tag, ${time} from plants where id <> 4 order by id`).toEqual([
    { id: '-5', name: '=1+1', tag: '@SUM(A1)', created_at: '2024-02-29 00:00:00.500000' },
    {
      ...{ id: '1', name: 'Efeu, "Grün"', tag: 'Araliaceae' },
      created_at: '2026-11-01 09:30:00.123456',
    },
    {
      ...{ id: '9223372036854775807', name: 'zwei\nZeilen', tag: null },
      created_at: '2026-11-01 09:30:00.000000',
    },
  ]);
  // The last plant has no time in the file, so the import sets the current time.
  const [last] =
    await sql`select name, tag, created_at >= ${before} as is_new from plants where id = 4`;
  expect(last).toEqual({ name: 'Æblerose; hvid', tag: 'Rosaceae', is_new: true });
});

import { createDatabase } from '@plant-store/test-setup';
import postgres from 'postgres';
import { beforeEach, expect, inject, it } from 'vitest';
import { useDirectory } from '../fixtures/plant-files.ts';
import { run } from '../fixtures/run-program.ts';

const directory = useDirectory();

let env: { DATABASE_URL: string };

beforeEach(async () => {
  env = { DATABASE_URL: await createDatabase(inject('postgresUrl')) };
});

/** Imports a CSV file, and returns its summary and the stored plants. */
async function importCsv(content: string, ...options: string[]) {
  const file = await directory.write('plants.csv', content);
  const { code, stdout, stderr } = await run(['import', file, '--json', ...options], { env });
  expect(stderr).not.toContain('error');
  const sql = postgres(env.DATABASE_URL);
  const plants = await sql`select id, name, tag from plants order by id`;
  await sql.end();
  return { code, summary: JSON.parse(stdout), stderr, plants: plants.map((row) => ({ ...row })) };
}

const monstera = { id: '1', name: 'Monstera', tag: 'Araceae' };

it.each(['ID,Name,Tag\n1,Monstera,Araceae\n', ' TAG ,\tName,"iD "\nAraceae,Monstera,1\n'])(
  'matches the header %j trimmed and in any case',
  async (content) => {
    const { plants } = await importCsv(content);
    expect(plants).toEqual([monstera]);
  },
);

it.each([
  ['commas', 'id,name,tag\r\n1,Monstera,Araceae\r\n'],
  ['semicolons', '\ufeffid;name;tag\r\n1;Monstera;Araceae\r\n'],
  ['tabs', 'id\tname\ttag\n1\tMonstera\tAraceae\n'],
  ['bars', 'id|name|tag\n1|Monstera|Araceae\n'],
  ['the delimiter of a line sep=', 'sep=;\r\nid;name;tag\r\n1;Monstera;Araceae\r\n'],
  ['an unusual delimiter of a line sep=', '"sep=^"\nid^name^tag\n1^Monstera^Araceae\n'],
  ['a line break in the header', 'id;name;"Height\n(cm)";tag\n1;Monstera;90;Araceae\n'],
  ['blank lines before the header', '\r\n ;;\r\n\r\nid;name;tag\r\n1;Monstera;Araceae\r\n'],
])('recognizes %s', async (_, content) => {
  const { code, plants } = await importCsv(content);
  expect(code).toBe(0);
  expect(plants).toEqual([monstera]);
});

it('separates the fields by --delimiter', async () => {
  const content = 'id:name:tag\n1:Monstera:Araceae\n';
  expect(await importCsv(content, '--delimiter', ':')).toMatchObject({ plants: [monstera] });
  const withTabs = content.replaceAll(':', '\t').replace('1', '2');
  const { plants } = await importCsv(withTabs, '--delimiter', 'tab');
  expect(plants).toEqual([monstera, { ...monstera, id: '2' }]);
});

it('names the columns that it does not use', async () => {
  const { code, stderr } = await importCsv('id,name,Tags,height,\n1,Monstera,Araceae,90,\n');
  expect(code).toBe(0);
  expect(stderr).toContain('plant-store: these columns are not used: "Tags", "height"\n');
});

it('counts rows of empty fields as blank, and ignores empty fields after the last column', async () => {
  const { code, summary, plants } = await importCsv(
    'id,name,tag\n1,Monstera,Araceae,,,\n,,\n,,,,,\n',
  );
  expect(code).toBe(0);
  expect(summary).toMatchObject({ lines: 4, header: 1, blank: 2, rows: 1, created: 1 });
  expect(plants).toEqual([monstera]);
});

import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { normalize } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { defaultRejectsPath, openRejectsFile } from '../../src/import/rejects-file.ts';
import { useDatabase } from '../fixtures/database.ts';
import { rejectsOf, useDirectory } from '../fixtures/plant-files.ts';
import { run } from '../fixtures/run-program.ts';

const directory = useDirectory();

const database = useDatabase();
const { env } = database;

const csv =
  'ID; Name;tag;note\r\n1;Hoya;;a\r\n1;"Ficus ""x""\r\ny";;b\r\n1e3;Pilea;;c\r\n4;"Rose;;d\r\n';
const csvRejects = `line;reason;ID; Name;tag;note
3;"id 1 belongs to another plant: choose an id that is free";1;"Ficus ""x""\r\ny";;b
5;"invalid input: id ""1e3"" must be a whole number";1e3;Pilea;;c
6;"has a quoted field without a closing quote";4;"Rose;;d
`;

it('lists rejected CSV rows in a form that a user can correct and import', async () => {
  const file = await directory.write('plants.csv', csv);
  expect(await run(['import', file], { env })).toMatchObject({ code: 3 });
  const rejects = await readFile(rejectsOf(file), 'utf8');
  expect(rejects).toBe(csvRejects);

  // When the user corrects one row, a second import rejects and lists the other rows again.
  const half = await directory.write('half.csv.rejects', rejects.replace(';1;"F', ';2;"F'));
  const { stdout, stderr } = await run(['import', half, '--json'], { env });
  expect(JSON.parse(stdout)).toMatchObject({ lines: 5, continued: 1, created: 1, rejected: 2 });
  expect(stderr).toContain('these columns are not used: "note"\n');
  expect(await readFile(rejectsOf(half), 'utf8')).toBe(
    csvRejects.replace(/3;[\s\S]*?\n5;/, '4;').replace('6;', '5;'),
  );

  const corrected = rejects
    .replace(';1;"F', ';2;"F')
    .replace(';1e3;', ';3;')
    .replace('"Rose', 'Rose');
  const mended = await directory.write('plants.csv.rejects', corrected);
  expect(await run(['import', mended], { env })).toMatchObject({ code: 0 });
  expect(await storedNames()).toEqual(['Hoya', 'Ficus "x"\r\ny', 'Pilea', 'Rose']);
});

it('treats - as standard input or output, and ./- as a file', async () => {
  await directory.write('-', '{"id":7,"name":"Hoya"}\nnull\n');
  const importWith = (...args: string[]) =>
    run(['import', ...args, '--format', 'ndjson'], {
      ...{ env, cwd: directory.path('.') },
      input: '{"id":8,"name":"Pilea"}\nno JSON\n',
    });
  const rejected = '"reason":"is not JSON: ';
  expect(await importWith('-', '--rejects', '-')).toMatchObject({
    code: 3,
    stdout: expect.stringContaining(rejected),
  });
  expect(await storedNames()).toEqual(['Pilea']);
  const fromFile = await importWith('./-', '--rejects', '-');
  expect(fromFile).toMatchObject({ code: 3, stdout: expect.stringContaining('"row":"null"') });
  expect(await storedNames()).toEqual(['Hoya', 'Pilea']);
  const ontoItself = await importWith('./-', '--rejects', `${directory.path('.')}/-`);
  expect(ontoItself).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('is the file to import'),
  });
  await importWith('-', '--rejects', './-');
  expect(await readFile(directory.path('-'), 'utf8')).toContain(rejected);
});

it('writes rejected rows into a directory that git ignores, beside the rejects files of other imports', async () => {
  const git = (...args: string[]) => promisify(execFile)('git', args, { cwd: directory.path('.') });
  await git('init');
  const file = await directory.write('plants.csv', csv);
  expect(await run(['import', file], { env })).toMatchObject({ code: 3 });
  const good = '{"id":9,"name":"Pilea"}\n';
  expect(await run(['import', '-'], { env, input: good })).toMatchObject({ code: 0 });
  expect(await readdir(directory.path('plant-store-rejects'))).toContain('plants.csv.rejects');
  const { stdout } = await git('status', '--porcelain', '--untracked-files=all');
  expect(stdout).toBe('?? plants.csv\n');
});

it('closes the empty rejects files of two imports of one file', async () => {
  const path = rejectsOf(directory.path('plants.csv'));
  const files = [await openRejectsFile(path), await openRejectsFile(path)];
  for (const file of files) await file.close();
  expect(await readdir(directory.path('.'))).toEqual([]);
});

it('keeps the rejected rows of imports from standard input apart', async () => {
  const reasons = ['no JSON', '{"id":1}'].map(async (input) => {
    const options = { cwd: directory.path('.'), input: `${input}\n`.repeat(20_000) };
    const { stdout } = await run(['import', '-', '--dry-run', '--json'], options);
    const rejects = await readFile(directory.path(JSON.parse(stdout).rejectsFile), 'utf8');
    return rejects.split(input.startsWith('{') ? 'name is missing' : 'is not JSON').length - 1;
  });
  expect(await Promise.all(reasons)).toEqual([20_000, 20_000]);
});

it.each([
  ['plants.csv', 'plant-store-rejects/plants.csv.rejects'],
  ['data/plants.csv', 'data/plant-store-rejects/plants.csv.rejects'],
  ['-', `plant-store-rejects/import-${process.pid}.rejects`],
  ['/dev/fd/63', `plant-store-rejects/import-${process.pid}.rejects`],
  ['plant-store-rejects/a.csv.rejects', 'plant-store-rejects/a.csv.rejects.rejects'],
])('writes the rejected rows of %s to %s by default', (file, path) => {
  expect(defaultRejectsPath(file)).toBe(normalize(path));
});

it('stores nothing when the rejects file cannot be opened', async () => {
  const file = await directory.write('plants.csv', csv);
  const rejects = directory.path('none/rejects');
  const { code, stderr } = await run(['import', file, '--rejects', rejects], { env });
  expect(stderr).toContain(`cannot write the rejected rows to ${rejects}: name another file`);
  expect(code).toBe(2);
  expect(await storedNames()).toEqual([]);
});

async function storedNames(): Promise<string[]> {
  const plants = await database.sql<{ name: string }[]>`select name from plants order by id`;
  return plants.map(({ name }) => name);
}

import { gzipSync, zstdCompressSync } from 'node:zlib';
import { createDatabase } from '@plant-store/test-setup';
import postgres from 'postgres';
import { beforeEach, describe, expect, inject, it } from 'vitest';
import { useDirectory } from '../fixtures/plant-files.ts';
import { run } from '../fixtures/run-program.ts';

const directory = useDirectory();

let env: { DATABASE_URL: string };

beforeEach(async () => {
  env = { DATABASE_URL: await createDatabase(inject('postgresUrl')) };
});

const bytes = (text: string, encoding?: BufferEncoding) => Buffer.from(text, encoding);
const utf16le = (text: string) => bytes(`\ufeff${text}`, 'utf16le');

const excel =
  'id;name;tag\r\n1;"Efeu; ""Grün""";Araliaceae\r\n2;Rose;\r\n3;"zwei\nZeilen 🪴";""\r\n';
const excelPlants = [
  { id: '1', name: 'Efeu; "Grün"', tag: 'Araliaceae' },
  { id: '2', name: 'Rose', tag: null },
  { id: '3', name: 'zwei\nZeilen 🪴', tag: '' },
];

describe('stores the plants of', () => {
  it.each([
    [
      'Excel Unicode text',
      'a.tsv',
      utf16le(excel.replaceAll(';', '\t').replace('Efeu\t', 'Efeu;')),
    ],
    [
      'gzip of UTF-16 in two members',
      'a.csv',
      Buffer.concat([
        gzipSync(utf16le(excel.slice(0, 20))),
        gzipSync(bytes(excel.slice(20), 'utf16le')),
      ]),
    ],
    ['zstd', 'a.csv.zst', zstdCompressSync(excel)],
  ])('%s', async (_, name, content) => {
    const file = await directory.write(name, content);
    const { code, stdout } = await run(['import', file, '--json'], { env });
    expect(JSON.parse(stdout)).toMatchObject({ rows: 3, created: 3, isComplete: true });
    expect(code).toBe(0);
    expect(await storedPlants()).toEqual(excelPlants);
  });

  it('CSV in Windows-1252', async () => {
    const file = await directory.write('a.csv', bytes(excel.replace(' 🪴', ''), 'latin1'));
    const imported = await run(['import', file, '--encoding', 'latin1'], { env });
    expect(imported).toMatchObject({ code: 0 });
    expect((await storedPlants())[0]).toEqual(excelPlants[0]);
  });

  it('gzip on standard input', async () => {
    const input = gzipSync('id,name,tag\n1,"Efeu; ""Grün""",Araliaceae\n2,Rose,\n');
    expect(await run(['import', '-', '--format', 'csv'], { env, input })).toMatchObject({
      code: 0,
    });
    expect(await storedPlants()).toEqual(excelPlants.slice(0, 2));
  });

  it('NDJSON with zstd', async () => {
    const line = '{"id":1,"name":"Efeu; \\"Grün\\"","tag":"Araliaceae"}\n';
    const file = await directory.write('a.ndjson', zstdCompressSync(line));
    expect(await run(['import', file], { env })).toMatchObject({ code: 0 });
    expect(await storedPlants()).toEqual(excelPlants.slice(0, 1));
  });
});

const noise = Array.from({ length: 300_000 }, (_, i) => `${i},${Math.sin(i)}\n`).join('');

describe('stores nothing, exits with 2 and gives a hint for', () => {
  it.each([
    [
      'UTF-16 without a mark',
      'a.csv',
      bytes(excel, 'utf16le'),
      'add --encoding utf-16le or utf-16',
    ],
    ['a header in Latin-1', 'a.csv', bytes('id;name;größe\n', 'latin1'), 'add --encoding latin1'],
    ['CSV as NDJSON', 'a.ndjson', bytes(excel), 'the file is CSV: add --format csv'],
  ])('%s', async (_, name, content, hint) => {
    const file = await directory.write(name, content);
    const { code, stdout, stderr } = await run(['import', file, '--json'], { env });
    expect(stderr).toContain(hint);
    expect(JSON.parse(stdout)).toEqual({ error: 40001, message: expect.stringContaining(hint) });
    expect(code).toBe(2);
  });
});

it.each([
  ['gzip', gzipSync(`id,name\n${noise}`).subarray(0, -9), 'the gzip data is damaged or incomplete'],
  [
    'zstd',
    zstdCompressSync(`id,name\n${noise}`).subarray(0, -9),
    'the zstd data is damaged or inc',
  ],
  [
    'zstd with several frames',
    Buffer.concat([zstdCompressSync('id,name\n'), zstdCompressSync('1,Hoya\n')]),
    'the zstd data has several frames: run zstd -dc',
  ],
])('reports an error for an incomplete import of %s', async (_, content, error) => {
  const file = await directory.write('a.csv', content);
  const { code, stderr } = await run(['import', file, '--json'], { env });
  expect(stderr).toContain(error);
  expect(code).not.toBe(0);
});

async function storedPlants() {
  const sql = postgres(env.DATABASE_URL);
  const plants = await sql`select id, name, tag from plants order by id`;
  await sql.end();
  return plants.map((plant) => ({ ...plant }));
}

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
const withoutEmoji = excel.replace(' 🪴', '');
const ndjson = '{"id":1,"name":"Efeu; \\"Grün\\"","tag":"Araliaceae"}\n';

describe('stores the plants of', () => {
  it.each([
    ['Excel CSV UTF-8', 'a.csv', bytes(`\ufeff${excel}`)],
    [
      'Excel Unicode text',
      'a.tsv',
      utf16le(excel.replaceAll(';', '\t').replace('Efeu\t', 'Efeu;')),
    ],
    ['UTF-16, big endian', 'a.csv', utf16le(excel).swap16()],
    ['CR-only line ends', 'a.csv', bytes(excel.replaceAll('\r\n', '\r'))],
    ['gzip', 'a.csv.gz', gzipSync(excel)],
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

  it.each([
    ['CSV in Windows-1252', ['--encoding', 'latin1'], bytes(withoutEmoji, 'latin1')],
    ['UTF-16 without a mark', ['--encoding', 'utf-16le'], bytes(withoutEmoji, 'utf16le')],
  ])('%s', async (_, options, content) => {
    const file = await directory.write('a.csv', content);
    expect(await run(['import', file, ...options], { env })).toMatchObject({ code: 0 });
    expect((await storedPlants())[0]).toEqual(excelPlants[0]);
  });

  it('LibreOffice, which quotes only where it must, and gzip on standard input', async () => {
    const input = gzipSync('id,name,tag\n1,"Efeu; ""Grün""",Araliaceae\n2,Rose,\n');
    expect(await run(['import', '-', '--format', 'csv'], { env, input })).toMatchObject({
      code: 0,
    });
    expect(await storedPlants()).toEqual(excelPlants.slice(0, 2));
  });

  it.each([
    ['CRs', bytes(ndjson.replace('\n', '\r').repeat(2))],
    ['UTF-16', utf16le(ndjson)],
    ['zstd', zstdCompressSync(ndjson)],
  ])('NDJSON with %s', async (_, content) => {
    const file = await directory.write('a.ndjson', content);
    expect(await run(['import', file], { env })).toMatchObject({ code: 0 });
    expect(await storedPlants()).toEqual(excelPlants.slice(0, 1));
  });
});

const noise = Array.from({ length: 300_000 }, (_, i) => `${i},${Math.sin(i)}\n`).join('');

describe('stores nothing, exits with 2 and gives a hint for', () => {
  it.each([
    [
      'a workbook',
      'a.csv',
      bytes('PK\x03\x04…'),
      'or a spreadsheet such as .xlsx or .ods: unpack it',
    ],
    ['an old workbook', 'a.csv', Buffer.of(0xd0, 0xcf, 0x11, 0xe0), 'is an Excel workbook: save'],
    ['bzip2', 'a.csv', bytes('BZh91AY'), 'is compressed by bzip2: unpack it first'],
    [
      'damaged gzip',
      'a.csv',
      gzipSync(excel).subarray(0, -9),
      'the gzip data is damaged or incomp',
    ],
    ['gzip in gzip', 'a.csv', gzipSync(gzipSync(excel)), 'is compressed twice: unpack it first'],
    [
      'UTF-16 without a mark',
      'a.csv',
      bytes(excel, 'utf16le'),
      'add --encoding utf-16le or utf-16',
    ],
    ['a header in Latin-1', 'a.csv', bytes('id;name;größe\n', 'latin1'), 'add --encoding latin1'],
    ['zeros', 'a.ndjson', Buffer.alloc(1000), 'the file is not text'],
    [
      'a JSON array',
      'a.ndjson',
      bytes('[{"id":1,"name":"x"}]'),
      'is one JSON document: convert it',
    ],
    ['indented JSON', 'a.ndjson', bytes('{\n  "id": 1,\n'), 'is one JSON document: convert it'],
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
])('does not import a part of %s without an error', async (_, content, error) => {
  const file = await directory.write('a.csv', content);
  const { code, stderr } = await run(['import', file, '--json'], { env });
  expect(stderr).toContain(error);
  expect(code).not.toBe(0);
});

it('rejects text that the encoding cannot hold', async () => {
  const file = await directory.write('a.csv', utf16le('id,name\n1,a\ud800\n2,b\n3,🪴\n'));
  const { stdout } = await run(['import', file, '--json'], { env });
  expect(JSON.parse(stdout)).toMatchObject({ rows: 3, created: 2, rejected: 1 });
  expect(await storedPlants()).toMatchObject([{ name: 'b' }, { name: '🪴' }]);
});

async function storedPlants() {
  const sql = postgres(env.DATABASE_URL);
  const plants = await sql`select id, name, tag from plants order by id`;
  await sql.end();
  return plants.map((plant) => ({ ...plant }));
}

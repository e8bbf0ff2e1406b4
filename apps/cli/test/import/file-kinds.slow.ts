import { gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { useDatabase } from '../fixtures/database.ts';
import { useDirectory } from '../fixtures/plant-files.ts';
import { run } from '../fixtures/run-program.ts';

const directory = useDirectory();

const database = useDatabase();
const { env } = database;

const ivy = { id: '1', name: 'Efeu; "Grün"', tag: 'Araliaceae' };

it.each([
  ['CSV with gzip', 'csv', gzipSync('id,name,tag\n1,"Efeu; ""Grün""",Araliaceae\n')],
  [
    'NDJSON with zstd',
    'ndjson',
    zstdCompressSync('{"id":1,"name":"Efeu; \\"Grün\\"","tag":"Araliaceae"}\n'),
  ],
])('stores the plants of %s on standard input', async (_, format, input) => {
  expect(await run(['import', '-', '--format', format], { env, input })).toMatchObject({ code: 0 });
  expect([...(await database.sql`select id, name, tag from plants`)]).toEqual([ivy]);
});

it.each([
  [
    'UTF-16 without a mark',
    'a.csv',
    Buffer.from('id;name\r\n1;Efeu\r\n', 'utf16le'),
    'add --encoding utf-16le or utf-16',
  ],
  [
    'a header in Latin-1',
    'a.csv',
    Buffer.from('id;name;größe\n', 'latin1'),
    'add --encoding latin1',
  ],
  ['CSV as NDJSON', 'a.ndjson', 'id;name\r\n1;Efeu\r\n', 'the file is CSV: add --format csv'],
  ['NDJSON as CSV', 'a.csv', '{"id":1,"name":"x"}\n', 'for NDJSON, add --format ndjson'],
])('stores nothing and gives a hint for %s', async (_, name, content, hint) => {
  const file = await directory.write(name, content);
  const { code, stdout, stderr } = await run(['import', file, '--json'], { env });
  expect(stderr).toContain(hint);
  expect(JSON.parse(stdout)).toEqual({ error: 40001, message: expect.stringContaining(hint) });
  expect(code).toBe(2);
});

it('reports an error when the end of a compressed file is missing', async () => {
  const rows = Array.from({ length: 300_000 }, (_, i) => `${i},${Math.sin(i)}\n`).join('');
  const file = await directory.write('a.csv', gzipSync(`id,name\n${rows}`).subarray(0, -9));
  const { code, stderr } = await run(['import', file, '--json'], { env });
  expect(stderr).toContain('the gzip data is damaged or incomplete');
  expect(code).not.toBe(0);
});

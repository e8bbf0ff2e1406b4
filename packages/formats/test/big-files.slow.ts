import { expect, it } from 'vitest';
import { readRows } from './fixtures/read-rows.ts';

it('finds the header of CSV after many blocks of blank lines', async () => {
  const { rows, counts } = await readRows(`${'\n'.repeat(250_000)}id,name\n1,x\n`, 'csv');
  expect(rows).toEqual([{ line: 250_002, plant: { id: 1n, name: 'x', tag: undefined } }]);
  expect(counts).toEqual({ lines: 250_002, header: 1, blank: 250_000, continued: 0 });
});

it('counts the lines of NDJSON in many blocks', async () => {
  const { rows, counts } = await readRows(`${'\n'.repeat(250_000)}{"id":1}\n`, 'ndjson');
  expect(rows).toEqual([{ line: 250_001, plant: { id: 1 } }]);
  expect(counts).toMatchObject({ lines: 250_001, blank: 250_000 });
});

it('does not read a CSV file as NDJSON, even after many blocks of blank lines', async () => {
  const content = `${'\n'.repeat(250_000)}id,name\n`;
  await expect(readRows(content, 'ndjson')).rejects.toThrow('the file is CSV');
});

it('reads a quoted field that fills many blocks', async () => {
  const lines = Array.from({ length: 250_000 }, (_, i) => `line ${i}`);
  const content = `id,name\n7,x\n1,"${lines.join('\n')}"\n2,Ficus\n`;
  const { rows, counts } = await readRows(content, 'csv');
  expect(rows).toEqual([
    { line: 2, plant: { id: 7n, name: 'x', tag: undefined } },
    { line: 3, lastLine: 250_002, plant: { id: 1n, name: lines.join('\n'), tag: undefined } },
    { line: 250_003, plant: { id: 2n, name: 'Ficus', tag: undefined } },
  ]);
  expect(counts).toEqual({ lines: 250_003, header: 1, blank: 0, continued: 249_999 });
});

it('rejects a quoted field over 64 MiB as a field without a closing quote', async () => {
  const line = `2,${'x'.repeat(2 ** 20)}\n`;
  const { rows } = await readRows(`id,name\n1,"one\n${line.repeat(70)}`, 'csv');
  expect(rows).toHaveLength(71);
  expect(rows[0]).toEqual({
    line: 2,
    error:
      'has a quoted field without a closing quote (lines 2 to 66 were read as one row because of a quote; the import goes on at line 3)',
  });
});

it('checks the format of NDJSON only in the first block', async () => {
  const content = `${'{}\n'.repeat(100_000)}[{"id":1}]\nid,name\n`;
  const { rows } = await readRows(content, 'ndjson');
  expect(rows[100_000]).toEqual({ line: 100_001, plant: [{ id: 1 }] });
});

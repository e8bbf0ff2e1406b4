import { Readable } from 'node:stream';
import type { NewPlant } from '@plant-store/schemas';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { idOfText } from '../../src/formats/id-of-text.ts';
import { formatNames, formatOf, plantFormats } from '../../src/formats/plant-formats.ts';
import { showId } from '../../src/formats/show-id.ts';
import { readLines } from '../../src/formats/text/lines.ts';
import { anyPlant } from '../fixtures/any-plant.ts';
import { writePlants } from '../fixtures/written-plants.ts';

const options = { lineEnd: '\n', warn() {} };

const anyPlants = fc.uniqueArray(anyPlant, { selector: ({ id }) => id, minLength: 1 });

it.each(formatNames)('reads the %s that it wrote, in chunks of any size', async (format) => {
  const { read } = plantFormats[format];
  await fc.assert(
    fc.asyncProperty(anyPlants, fc.integer({ min: 1, max: 40 }), async (plants, size) => {
      const bytes = Buffer.from(writePlants(format, plants));
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
        bytes.subarray(i * size, (i + 1) * size),
      );
      const blocks = await Array.fromAsync(read(readLines(Readable.from(chunks)), options));
      const rows = blocks.flatMap((block) => block.rows);
      expect(rows.map((row) => 'plant' in row && withBigint(row.plant))).toEqual(plants);
    }),
  );
});

it.each([
  ['007', 'must be a whole number'],
  ['0x10', 'must be a whole number'],
  ['""', 'must be a whole number'],
  ['x1234567890123456', 'must be a whole number'],
  ['1234567890123456x', 'must be a whole number'],
  ['-9223372036854775809', 'must be from -9223372036854775808 to 9223372036854775807'],
  ['9223372036854775808', 'must be from -9223372036854775808 to 9223372036854775807'],
])('says what is wrong with the id %s of a CSV record', async (id, error) => {
  const csv = Readable.from([Buffer.from(`id,name\n${id},Hoya\n-5,Hoya\n`)]);
  const blocks = await Array.fromAsync(plantFormats.csv.read(readLines(csv), options));
  const rows = blocks.flatMap((block) => block.rows);
  expect(rows).toEqual([
    { line: 2, error: `invalid input: id ${id.startsWith('"') ? id : `"${id}"`} ${error}` },
    { line: 3, plant: { id: -5, name: 'Hoya' } },
  ]);
});

it.each([-999_999_999_999_999, 1_234_567_890_123_456n, -(2n ** 63n), 2n ** 63n - 1n])(
  'reads the id %d',
  (id) => {
    expect(idOfText(String(id))).toBe(id);
  },
);

it('exports CSV as the database makes it, after a header, and makes NDJSON of the text format', () => {
  const { csv, ndjson } = plantFormats;
  const block = Buffer.from('1,x\n');
  expect(csv).toMatchObject({ source: 'csv' });
  expect(csv.header(['id', 'name'])).toBe('id,name\n');
  expect(csv.createWriter()(block)).toBe(block);
  expect(ndjson).toMatchObject({ source: 'text' });
  expect(ndjson.header()).toBe('');
});

it.each(formatNames)('reads the times of %s, unless plants are created now', async (format) => {
  const text = {
    ndjson:
      '{"id":1,"name":"a","created_at":"2026-11-01"}\n{"id":2,"name":"\\"","created_at":"x"}\n',
    csv: 'CreatedAt,id,name\n2026-11-01,1,a\nx,2,""""\n',
  }[format];
  const timesOf = async (createdAt: 'keep' | 'now') => {
    const lines = readLines(Readable.from([Buffer.from(text)]));
    const blocks = await Array.fromAsync(
      plantFormats[format].read(lines, { ...options, createdAt }),
    );
    return blocks.flatMap(({ rows }) => rows.map((row) => 'plant' in row && row.plant));
  };
  expect(await timesOf('keep')).toEqual([
    { id: 1, name: 'a', createdAt: '2026-11-01' },
    expect.objectContaining({ id: 2, name: '"', createdAt: 'x' }),
  ]);
  expect(await timesOf('now')).toMatchObject([
    { id: 1, name: 'a', createdAt: undefined },
    { id: 2, name: '"', createdAt: undefined },
  ]);
});

it.each([
  ['ndjson', ['a.ndjson', 'a.JSONL', 'a.ndjson.gz', 'a.csv.ndjson.zst.rejects', '-']],
  ['csv', ['a.csv', 'a.TSV', 'a.tab', '/tmp/a.gz.csv', 'a.csv.zstd', 'a.csv.GZ.rejects']],
])('recognizes %s by the extension of a file', (format, files) => {
  expect(new Set(files.map(formatOf))).toEqual(new Set([format]));
});

it.each(['a', 'csv', 'a.txt', 'a.gz', 'a.csv.gz.txt', '-.x', 'a.csvx'])(
  'does not know the format of %s',
  (file) => {
    expect(() => formatOf(file)).toThrow(
      `the format of ${file} is unknown: add --format ndjson or --format csv`,
    );
  },
);

it.each([
  ['007', '"007"'],
  [5n, '5'],
  [undefined, 'undefined'],
  ['x'.repeat(39), `"${'x'.repeat(39)}…`],
])('shows the invalid id %s', (id, shown) => {
  expect(showId(id)).toBe(shown);
});

/** The readers return a small id as a number. */
function withBigint(plant: unknown): unknown {
  const { id, ...rest } = plant as NewPlant; // A plant that the test has written.
  return { id: BigInt(id), ...rest };
}

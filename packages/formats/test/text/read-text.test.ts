import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Encoding } from '../../src/text/encoding.ts';
import { gzip } from '../../src/text/gzip.ts';
import { readText as readTextWith } from '../../src/text/read-text.ts';
import { advice, readRows } from '../fixtures/read-rows.ts';

const readText = (file: AsyncIterable<Uint8Array>, encoding?: Encoding) =>
  readTextWith(file, { encoding, decompressors: [gzip], advice });

const text = 'id,name\n1,Grün 🪴\n2,ö\n';
const plants = [
  { line: 2, plant: { id: 1n, name: 'Grün 🪴', tag: undefined } },
  { line: 3, plant: { id: 2n, name: 'ö', tag: undefined } },
];
const utf16le = Buffer.from(text, 'utf16le');
const utf16be = Buffer.from(utf16le).swap16();
const withMark = (mark: number[], bytes: Buffer) => Buffer.concat([Buffer.from(mark), bytes]);

describe('encodings', () => {
  it.each<[string, Buffer, Encoding | undefined]>([
    ['in UTF-8', Buffer.from(text), undefined],
    ['in UTF-8 with a mark', withMark([0xef, 0xbb, 0xbf], Buffer.from(text)), undefined],
    ['in UTF-16LE with a mark', withMark([0xff, 0xfe], utf16le), undefined],
    ['in UTF-16BE with a mark', withMark([0xfe, 0xff], utf16be), undefined],
    ['in UTF-16LE without a mark', utf16le, 'utf-16le'],
    ['in UTF-16BE without a mark', utf16be, 'utf-16be'],
    ['whose mark contradicts the option', withMark([0xff, 0xfe], utf16le), 'latin1'],
    ['in gzip', gzipSync(text), undefined],
    ['in gzip of UTF-16', gzipSync(withMark([0xfe, 0xff], utf16be)), undefined],
  ])('reads a text %s, in chunks of any size', async (_, bytes, encoding) => {
    for (const chunkSize of [1, 2, 3, 5, 7, bytes.length]) {
      const options = { chunkSize, ...(encoding && { encoding }) };
      expect((await readRows(bytes, 'csv', options)).rows).toEqual(plants);
    }
  });

  it.each<Encoding>(['latin1', 'windows-1252'])(
    'reads a text in Windows-1252 (%s)',
    async (encoding) => {
      const bytes = Buffer.concat([
        Buffer.from('id,name\n1,'),
        Buffer.of(0x80, 0xfc, 0x81),
        Buffer.from('\n'),
      ]);
      const { rows } = await readRows(bytes, 'csv', { encoding, chunkSize: 4 });
      expect(rows).toMatchObject([{ plant: { name: '€ü\x81' } }]);
    },
  );

  it('reads a text in UTF-16 with a character in two chunks', async () => {
    const many = Buffer.from('"🪴🪴🪴"\n'.repeat(10_000), 'utf16le');
    const { rows } = await readRows(many, 'ndjson', { encoding: 'utf-16le', chunkSize: 4_099 });
    expect(rows).toHaveLength(10_000);
    expect(rows.filter((row) => 'plant' in row && row.plant === '🪴🪴🪴')).toHaveLength(10_000);
  });

  it('reads a text that consists of a byte order mark', async () => {
    const { rows } = await readRows(Buffer.of(0xef, 0xbb, 0xbf), 'ndjson');
    expect(rows).toEqual([]);
  });
});

describe('invalid characters', () => {
  const notUtf8 = { error: expect.stringContaining('is not UTF-8') };
  const readUtf16 = async (lines: string, ...more: number[]) => {
    const bytes = Buffer.concat([Buffer.from(lines, 'utf16le'), Buffer.from(more)]);
    const chunks = [1, 2, 3, 4, 5, bytes.length].map((chunkSize) =>
      readRows(bytes, 'ndjson', { encoding: 'utf-16le', chunkSize }),
    );
    const [first, ...others] = await Promise.all(chunks);
    for (const other of others) expect(other?.rows).toEqual(first?.rows);
    return first?.rows;
  };

  it('rejects a line with a lone surrogate in UTF-16', async () => {
    expect(await readUtf16('"\ud83e"\n"🪴"\n"\udeb4"\n"\ud83e\ud83e\udeb4"\n5\n')).toEqual([
      { line: 1, ...notUtf8 },
      { line: 2, plant: '🪴' },
      { line: 3, ...notUtf8 },
      { line: 4, ...notUtf8 },
      { line: 5, plant: 5 },
    ]);
  });

  it('rejects a line that ends with half a character of UTF-16', async () => {
    expect(await readUtf16('5\n6', 0x20)).toEqual([
      { line: 1, plant: 5 },
      { line: 2, ...notUtf8 },
    ]);
    expect(await readUtf16('5\n6\ud83e')).toEqual([
      { line: 1, plant: 5 },
      { line: 2, ...notUtf8 },
    ]);
  });
});

describe('line ends', () => {
  it.each([
    ['LF', 'id,name\n1,a\r\n', ['a']],
    ['LF after CR in quotes', 'id,"na\rme",name\n1,,"a\rb"\n2,,c\n', ['a\rb', 'c']],
    ['CRLF', 'id,name\r\n1,a\r\n2,b\r\n', ['a', 'b']],
    ['CR', 'id,name\r1,a\r2,"b\nc"\r', ['a', 'b\nc']],
    ['CR after a blank line', 'id,name\r\r1,a\r', ['a']],
    ['CR CR LF', 'sep=,\r\r\nid,name\r\r\n1,a\r\r\n2,"b"\r\r\n', ['a', 'b']],
    ['CR after LF in quotes', 'id,"na\nme",name\r1,,a\r2,,b', ['a', 'b']],
    ['CR at the end of a whole file', 'id,name\r', []],
    ['CR, and a quote that is not closed', 'id,name\r1,"a\r2,b\r', [undefined, 'b']],
    ['LF at first', '\nid,name\n1,a\r', ['a']],
    ['CR at first', '\rid,name\r1,a\r', ['a']],
  ])('finds the line end %s', async (_, content, names) => {
    const { rows } = await readRows(content, 'csv');
    expect(rows.map((row) => ('plant' in row ? row.plant : {}))).toMatchObject(
      names.map((name) => (name === undefined ? {} : { name })),
    );
  });

  it('reads NDJSON with the line end CR CR LF', async () => {
    const { rows } = await readRows('{"id":1,"name":"a"}\r\r\n{"id":2}\r\r\n', 'ndjson');
    expect(rows).toMatchObject([{ plant: { id: 1, name: 'a' } }, { plant: { id: 2 } }]);
  });

  it('takes LF as the line end when a quote is not closed', async () => {
    const { lineEnd } = await readText(Readable.from([Buffer.from('"a\rb\n')]));
    expect(lineEnd).toBe('\n');
  });

  it('takes LF as the line end when the first 64 KiB contain no line end', async () => {
    const content = `{"name":"${'x'.repeat(100_000)}"}\r{"id":2}\n`;
    expect((await readRows(content, 'ndjson')).rows).toMatchObject([
      { error: expect.stringMatching(/^is not JSON/) },
    ]);
  });
});

describe('files that are not text', () => {
  const bytes = (hex: string) => Buffer.from(`${hex}0a`, 'hex');
  it.each([
    [
      'a workbook',
      bytes('504b0304'),
      'the file is a ZIP archive, or a spreadsheet such as .xlsx or .ods: unpack it, or save it as CSV (UTF-8) in the spreadsheet program',
    ],
    [
      'an old workbook',
      bytes('d0cf11e0'),
      'the file is an Excel workbook: save it as CSV (UTF-8) in the spreadsheet program',
    ],
    ['bzip2', bytes('425a68'), 'the file is compressed by bzip2: unpack it first'],
    ['zstd', bytes('28b52ffd'), 'the file is compressed by zstd: unpack it first'],
    ['xz', bytes('fd377a585a'), 'the file is compressed by xz: unpack it first'],
    ['7z', bytes('377abcaf'), 'the file is a 7z archive: unpack it first'],
    ['gzip in gzip', gzipSync(gzipSync('x')), 'the file is compressed twice: unpack it first'],
    ['a PDF', Buffer.from('%PDF-1.7'), 'the file is a PDF: import the data from which it was made'],
    ['Parquet', Buffer.from('PAR1'), 'the file is a Parquet file: convert it to CSV or NDJSON'],
    [
      'SQLite',
      Buffer.from('SQLite format 3'),
      'the file is an SQLite database: export its table as CSV',
    ],
    [
      'tar',
      Buffer.concat([Buffer.alloc(257, 'x'), Buffer.from('ustar')]),
      'the file is a tar archive: unpack it first',
    ],
    [
      'zeros',
      Buffer.alloc(10),
      'the file is not text, or is UTF-16 without a byte order mark: for the latter, read it as UTF-16',
    ],
    ['an eighth of zeros', Buffer.from('\0\0xxxxxxxxxxxxx'), 'the file is not text'],
  ])('does not read %s', async (_, content, message) => {
    const error = { name: 'FileError', message: expect.stringContaining(message) };
    for (const chunkSize of [1, 300]) {
      await expect(readRows(content, 'csv', { chunkSize })).rejects.toMatchObject(error);
    }
  });

  it('does not read a gzip file whose end is missing', async () => {
    const part = gzipSync('1\n2\n3\n').subarray(0, -3);
    await expect(readRows(part, 'ndjson', { chunkSize: 5 })).rejects.toMatchObject({
      name: 'FileError',
      message: expect.stringMatching(/^the gzip data is damaged or incomplete.*: unpack the file/),
      cause: expect.any(Error),
    });
  });

  it('does not read a gzip file with two members, because the second member would be lost', async () => {
    const members = Buffer.concat([gzipSync('1\n'), gzipSync('2\n')]);
    await expect(readRows(members, 'ndjson')).rejects.toThrow('or has several parts');
  });
});

it.each(['\0xxxxxxx', 'x'.repeat(257), `${'x'.repeat(256)}ustar`, '', 'BZ', 'P'])(
  'reads %j, which is text',
  async (content) => {
    const { counts } = await readRows(content, 'ndjson');
    expect(counts.lines).toBe(content === '' ? 0 : 1);
  },
);

it.each([
  ['plain', 'x'.repeat(3_000_000)],
  ['gzip', gzipSync(Buffer.from(Float64Array.from({ length: 1e5 }, Math.random).buffer))],
])('throws the error when a file cannot be read to its end (%s)', async (_, content) => {
  const error = Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' });
  async function* damaged() {
    yield Buffer.from(content);
    throw error;
  }
  const read = async () => {
    const { lines } = await readText(damaged(), 'latin1');
    await Array.fromAsync(lines);
  };
  await expect(read()).rejects.toBe(error);
});

it.each([
  100_000, // The first block of lines needs more than one chunk.
  300_000,
])('closes the file when reading stops before the end (%i lines in a chunk)', async (count) => {
  let isClosed = false;
  async function* file() {
    try {
      for (;;) yield Buffer.from('line\n'.repeat(count));
    } finally {
      isClosed = true;
    }
  }
  const { lines } = await readText(file());
  await lines.next();
  expect(isClosed).toBe(false);
  await lines.return(undefined);
  expect(isClosed).toBe(true);
});

import { describe, expect, it } from 'vitest';
import type { FileRow } from '../../src/import/file-row.ts';
import { readRows } from '../../src/import/read-rows.ts';

/** Reads a file whose bytes come in pieces of a size. */
async function read(name: string, content: string | Uint8Array, size = 1_000): Promise<FileRow[]> {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  const file = new File([], name);
  const stream = () =>
    new ReadableStream({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size) {
          controller.enqueue(bytes.subarray(at, at + size));
        }
        controller.close();
      },
    });
  const rows: FileRow[] = [];
  let read = 0;
  for await (const block of readRows(Object.assign(file, { stream }))) {
    rows.push(...block.rows);
    read += block.bytes;
  }
  expect(read).toBe(bytes.length);
  return rows;
}

describe('NDJSON', () => {
  const text = '{"id":9007199254740993,"name":"🪴"}\r\n\n{"id":2,"name":"b"}';

  it.each([1, 2, 3, 1_000])('is read from pieces of %i bytes', async (size) => {
    expect(await read('a.ndjson', text, size)).toEqual([
      { row: 1, plant: { id: 9007199254740993n, name: '🪴' } },
      { row: 3, plant: { id: 2, name: 'b' } },
    ]);
  });

  it('names the row that is not JSON', async () => {
    expect(await read('a.jsonl', '{}\n{')).toEqual([
      { row: 1, plant: {} },
      { row: 2, error: expect.stringContaining('is not JSON') },
    ]);
  });
});

describe('CSV', () => {
  const text =
    '\uFEFFid,other,name,tag\r\n9223372036854775807,,"🪴, ""x""\r\ny",\r\n\r\n-5,"",b,""\r\n';

  it.each([1, 2, 3, 1_000])('is read from pieces of %i bytes', async (size) => {
    expect(await read('a.csv', text, size)).toEqual([
      { row: 2, plant: { id: 9223372036854775807n, name: '🪴, "x"\r\ny', tag: undefined } },
      { row: 4, plant: { id: -5n, name: 'b', tag: '' } },
    ]);
  });

  it.each([
    ['id,na"me\n1,x\n', 'the first row has a quote inside an unquoted field'],
    ['id,"name"x\n1,x\n', 'the first row has text after the closing quote of a field'],
  ])('says what is wrong with the first row of %j', async (text, message) => {
    await expect(read('a.csv', text)).rejects.toThrow(message);
  });

  it('tells an empty text from a missing value in each column', async () => {
    const rows = await read('a.csv', 'tag,id,name\n,1,""\n"",2,"a,"""",b"\n');
    expect(rows).toEqual([
      { row: 2, plant: { id: 1n, name: '', tag: undefined } },
      { row: 3, plant: { id: 2n, name: 'a,"",b', tag: '' } },
    ]);
  });

  it('names each row that it cannot read, and goes on with the next one', async () => {
    expect(await read('a.csv', 'id,name\n1\n2,"b"x\n3,c"\n4,d\n5,"e\n')).toEqual([
      { row: 2, error: 'has 1 fields, but the first row has 2' },
      { row: 3, error: 'has text after the closing quote of a field' },
      { row: 4, error: 'has a quote inside an unquoted field' },
      { row: 5, plant: { id: 4n, name: 'd', tag: undefined } },
      { row: 6, error: 'has a quoted field without a closing quote' },
    ]);
  });

  it('names an id that is not a plain decimal', async () => {
    expect(await read('a.csv', 'id,name\n007,x\n')).toEqual([
      { row: 2, error: 'id must be a whole number' },
    ]);
  });

  it('needs the columns id and name', async () => {
    await expect(read('a.csv', 'id,nom\n1,a\n')).rejects.toThrow(
      'must have the columns id and name',
    );
  });
});

it('rejects a file that is not UTF-8, and never alters a character', async () => {
  await expect(read('a.ndjson', Uint8Array.of(0x22, 0xff, 0x22))).rejects.toThrow(TypeError);
});

it('rejects a file of another format', () => {
  expect(() => readRows(new File([], 'plants.xlsx'))).toThrow(
    'the format of plants.xlsx is unknown',
  );
});

import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { EncodingError, type FileFacts, readRows } from '../src/index.ts';
import { read } from './read.ts';

const text = 'id;name\r\n1;Müller 🌱\r\n2;Ficus\r\n';
const inText = [
  { id: 1n, name: 'Müller 🌱' },
  { id: 2n, name: 'Ficus' },
];
const utf16le = (content: string) => Buffer.from(`\ufeff${content}`, 'utf16le');
const latin1 = (content: string) => Buffer.from(content, 'latin1');

const encoded: [FileFacts['encoding'], string, Buffer][] = [
  ['utf-8', 'without a mark', Buffer.from(text)],
  ['utf-8', 'with a mark', Buffer.from(`\ufeff${text}`)],
  ['utf-16le', 'with a mark', utf16le(text)],
  ['utf-16be', 'with a mark', utf16le(text).swap16()],
];

it.each(encoded)('reads %s %s, plain and compressed', async (encoding, _, bytes) => {
  for (const content of [bytes, gzipSync(bytes)]) {
    // Chunks of one byte end inside characters, line ends and marks.
    for (const size of [1, 5, 1000]) {
      const { plants, facts } = await read(content, size);
      expect(plants).toEqual(inText);
      expect(facts).toMatchObject({ encoding, format: 'csv' });
    }
  }
});

it('reads Windows-1252 when the caller names this encoding', async () => {
  const bytes = latin1('id;name\n1;M\xfcller \x80\n');
  const { plants, facts } = await read(bytes, undefined, 'windows-1252');
  expect(plants).toEqual([{ id: 1n, name: 'Müller €' }]);
  expect(facts.encoding).toBe('windows-1252');
});

it('uses the encoding of the byte order mark, even when the caller names another encoding', async () => {
  expect((await read(utf16le(text), undefined, 'windows-1252')).plants).toEqual(inText);
});

const start = latin1('id,name\n1,x\n2,');
const halfAnEmoji = Buffer.from('🌱').subarray(0, 2);

it.each([
  ['an umlaut of Windows-1252', latin1('id,name\n1,x\n2,M\xfcller\n'), 'UTF-8'],
  ['half an emoji', Buffer.concat([start, halfAnEmoji, latin1('\n3,y\n')]), 'UTF-8'],
  ['half an emoji at the end', Buffer.concat([start, halfAnEmoji]), 'UTF-8'],
  ['half an emoji of UTF-16', utf16le('id,name\n1,x\n2,\ud83ca\n'), 'UTF-16LE'],
  ['half a character of UTF-16', utf16le('id,name\n1,x\n2,y').subarray(0, -1), 'UTF-16LE'],
])('stops at the line with %s', async (_, bytes, encoding) => {
  for (const size of [1, 4, 1000]) {
    const { rows, error } = await read(bytes, size);
    expect(rows).toMatchObject([{ line: 2 }]);
    expect(error).toBeInstanceOf(EncodingError);
    expect(error?.message).toContain(`line 3 is not ${encoding}: `);
  }
});

it('stops at a byte that Windows-1252 does not define', async () => {
  const { error } = await read(latin1('id,name\n1,M\x81ller\n'), undefined, 'windows-1252');
  expect(error?.message).toBe('line 2 is not WINDOWS-1252: save it as UTF-8');
});

it('names Windows-1252 in the error for a file that is not UTF-8', async () => {
  const { error } = await read(latin1('id,name\n1,M\xfcller\n'));
  expect(error?.message).toBe(
    'line 2 is not UTF-8: save it as UTF-8, or read it as Windows-1252 if Excel wrote it',
  );
});

it('keeps a U+FFFD of the file', async () => {
  expect((await read('id,name\n1,a\ufffdb\n')).plants).toEqual([{ id: 1n, name: 'a\ufffdb' }]);
});

it('yields the rows of an incomplete gzip file, and then throws a FileError', async () => {
  const lines = Array.from({ length: 50_000 }, (_, i) => `${i},${Math.sin(i)}\n`);
  const whole = gzipSync(`id,name\n${lines.join('')}`);
  const { rows, error } = await read(whole.subarray(0, -8));
  expect(error?.message).toMatch(/^the file ends early, is damaged, or /);
  expect(rows[0]).toMatchObject({ line: 2 });
});

it.each([
  ['a spreadsheet', [0x50, 0x4b, 3, 4, 20, 0]],
  ['an old Excel workbook', [0xd0, 0xcf, 0x11, 0xe0, 0xa1]],
])('says how to import %s', async (_, bytes) => {
  const { error } = await read(Uint8Array.from(bytes));
  expect(error?.message).toBe('the file is a spreadsheet or a ZIP archive: save it as CSV (UTF-8)');
});

it.each(['', '\ufeff', '\n\n'])('finds no rows in %j', async (content) => {
  const { rows, error, facts } = await read(content);
  expect([rows, error, facts.format]).toEqual([[], undefined, undefined]);
});

it('yields batches that fit into one request', async () => {
  const long = `9,${'x'.repeat(100_000)}\n`;
  const content = `id,name\n${'1,Hoya\n'.repeat(2500)}${long.repeat(3)}`;
  const lengths: number[] = [];
  for await (const rows of readRows(new Blob([content]).stream()).rows) lengths.push(rows.length);
  expect(lengths).toEqual([1000, 1000, 501, 1, 1]);
});

it('cancels the stream when the caller leaves the loop', async () => {
  let isCancelled = false;
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => controller.enqueue(Buffer.from(`id,name\n${'1,x\n'.repeat(2000)}`)),
    cancel() {
      isCancelled = true;
    },
  });
  for await (const _ of readRows(stream).rows) break;
  await expect.poll(() => isCancelled).toBe(true);
});

it.each([
  ['a compressed', gzipSync('id,name\n1,Hoya\n').subarray(0, 20)],
  ['a plain', Buffer.from('id,name\n1,Hoya\n2,F')],
])('throws the error of %s stream itself', async (_, start) => {
  const error = new Error('the disk is gone');
  let isFirst = true;
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      if (isFirst) controller.enqueue(start);
      else controller.error(error);
      isFirst = false;
    },
  });
  await expect(Array.fromAsync(readRows(stream).rows)).rejects.toBe(error);
});

import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { readLines, UnreadableLine } from '../../src/text/lines.ts';

const options = { lineEnd: '\n', advice: 'read it as Latin-1' };

const linesOf = async (...chunks: (string | Buffer)[]) => {
  const file = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  return (await Array.fromAsync(readLines(file, options))).flat();
};

const megabyte = Buffer.alloc(1024 * 1024, 'x');

it('reads all lines of a file, even if the last line has no newline', async () => {
  expect(await linesOf('one\ntw', 'o\n', '\nfour')).toEqual(['one', 'two', '', 'four']);
  expect(await linesOf('one\n')).toEqual(['one']);
  expect(await linesOf('one\n\n')).toEqual(['one', '']);
  expect(await linesOf()).toEqual([]);
});

it('marks only the line that is not UTF-8 as unreadable', async () => {
  const invalid = Buffer.from([0x61, 0xc3, 0x28, 0x0a]);
  expect(await linesOf('one\n', invalid, 'three')).toEqual([
    'one',
    expect.objectContaining({ text: 'a\ufffd(' }),
    'three',
  ]);
});

it('reads blank lines around a line that is not UTF-8', async () => {
  const invalid = expect.objectContaining({ text: '\ufffd(' });
  const bytes = Buffer.from([0xc3, 0x28]);
  expect(await linesOf('\n', bytes, '\n\n')).toEqual(['', invalid, '']);
});

it('reads a blank line before a long line', async () => {
  expect(await linesOf('\n', megabyte, '\nx')).toEqual(['', String(megabyte), 'x']);
});

it('yields blocks of about a megabyte', async () => {
  const chunks = Array<Buffer>(64).fill(Buffer.from(`${'x'.repeat(1_023)}\n`.repeat(64)));
  const blocks = await Array.fromAsync(readLines(Readable.from(chunks), options));
  // A block has only whole lines. Text after the last line end moves to the next block.
  expect(blocks.map((lines) => lines.length)).toEqual([1024, 1024, 1024, 1024]);
});

it('yields at most 100,000 lines in a block', async () => {
  const sizesOf = async (count: number) => {
    const file = Readable.from([Buffer.from('x\n'.repeat(count))]);
    return (await Array.fromAsync(readLines(file, options))).map((lines) => lines.length);
  };
  expect(await sizesOf(100_000)).toEqual([100_000]);
  expect(await sizesOf(200_001)).toEqual([100_000, 100_000, 1]);
});

it('marks only the line that is too long as unreadable', async () => {
  const tooLong = Array<Buffer>(130).fill(megabyte);
  const lines = await linesOf('one\n', ...tooLong, 'x\n', 'three');
  expect(lines).toEqual(['one', new UnreadableLine('is longer than 64 MiB', ''), 'three']);
});

it('reads a long line', async () => {
  const lines = await linesOf('one\n', ...Array<Buffer>(10).fill(megabyte), '\nthree');
  expect(lines.map((line) => typeof line === 'string' && line.length)).toEqual([
    3,
    10 * 1024 * 1024,
    5,
  ]);
});

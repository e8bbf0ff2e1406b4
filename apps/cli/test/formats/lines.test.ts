import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { readLines } from '../../src/formats/lines.ts';

const linesOf = async (...chunks: (string | Buffer)[]) =>
  (
    await Array.fromAsync(readLines(Readable.from(chunks.map((chunk) => Buffer.from(chunk)))))
  ).flat();

it('gives the lines of a file, whether or not the last one ends', async () => {
  expect(await linesOf('one\ntw', 'o\n', '\nfour')).toEqual(['one', 'two', '', 'four']);
  expect(await linesOf('one\n')).toEqual(['one', '']);
  expect(await linesOf()).toEqual([]);
});

it('leaves a byte order mark out at the beginning, and nowhere else', async () => {
  expect(await linesOf('\ufeffone\n\ufefftwo')).toEqual(['one', '\ufefftwo']);
});

it('gives the lines around those that are not UTF-8', async () => {
  const bad = Buffer.from([0x61, 0xc3, 0x28, 0x0a]);
  expect(await linesOf('one\n', bad, 'three')).toEqual(['one', undefined, 'three']);
});

it('gives the lines around one that is too long, and never holds that', async () => {
  const megabyte = Buffer.alloc(1024 * 1024, 'x');
  const long = Array<Buffer>(200).fill(megabyte);
  const lines = await linesOf('one\n', ...long, 'x\n', 'three');
  expect(lines).toEqual(['one', undefined, 'three']);
});

it('gives a long line whole', async () => {
  const megabyte = Buffer.alloc(1024 * 1024, 'x');
  const lines = await linesOf('one\n', ...Array<Buffer>(10).fill(megabyte), '\nthree');
  expect(lines.map((line) => line?.length)).toEqual([3, 10 * 1024 * 1024, 5]);
});

import { isUtf8 } from 'node:buffer';

/** A line without its newline; undefined when it is not UTF-8 or is too long. */
export type Line = string | undefined;

export const unreadableLine = 'is not UTF-8, or is longer than 64 MiB';

/** Bytes. Lines are decoded and yielded in blocks of about this size. */
const blockSize = 2 * 1024 * 1024;
const maxLine = 64 * 1024 * 1024;

const newline = 0x0a;
/** Stands for the part of a too long line that has been dropped: UTF-8 never contains this byte. */
const invalidByte = Buffer.of(0xff);

/** Reads a text file of any size in blocks of lines. Skips a byte order mark at the start. */
export async function* readLines(input: AsyncIterable<Buffer>): AsyncGenerator<Line[]> {
  let chunks: Buffer[] = [];
  let size = 0;
  let sizeToSearch = blockSize;
  let isFirst = true;

  for await (const chunk of input) {
    chunks.push(chunk);
    size += chunk.length;
    if (size < sizeToSearch) continue;

    const bytes = Buffer.concat(chunks);
    const end = bytes.lastIndexOf(newline);
    if (end >= 0) {
      yield decode(bytes.subarray(0, end), isFirst);
      isFirst = false;
    }
    const rest = bytes.subarray(end + 1);
    const kept = rest.length > maxLine ? invalidByte : rest;
    chunks = [kept];
    size = kept.length;
    // Doubling keeps the total search time linear in the length of a long line.
    sizeToSearch = Math.max(blockSize, 2 * size);
  }
  const rest = Buffer.concat(chunks);
  if (rest.length > 0) yield decode(rest, isFirst);
}

function decode(block: Buffer, isFirst: boolean): Line[] {
  const hasMark = isFirst && block.subarray(0, 3).equals(byteOrderMark);
  const text = hasMark ? block.subarray(3) : block;
  return isUtf8(text) ? text.toString().split('\n') : decodeEachLine(text);
}

const byteOrderMark = Buffer.of(0xef, 0xbb, 0xbf);

function decodeEachLine(block: Buffer): Line[] {
  const lines: Line[] = [];
  for (let start = 0; start <= block.length; ) {
    const at = block.indexOf(newline, start);
    const end = at < 0 ? block.length : at;
    const line = block.subarray(start, end);
    lines.push(isUtf8(line) ? line.toString() : undefined);
    start = end + 1;
  }
  return lines;
}

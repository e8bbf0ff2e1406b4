import { isUtf8 } from 'node:buffer';

/** A line without its end; undefined where its bytes are not UTF-8 or are too many. */
export type Line = string | undefined;

export const unreadableLine = 'is not UTF-8, or is longer than 64 MiB';

/** Bytes of whole lines that are handed on together. */
const blockSize = 2 * 1024 * 1024;
const maxLine = 64 * 1024 * 1024;

const newline = 0x0a;
/** A byte that no UTF-8 has: it stands for a line that is too long to be held. */
const unreadable = Buffer.of(0xff);

/** Reads a text file of any size, some lines at a time. A byte order mark is left out. */
export async function* readLines(input: AsyncIterable<Buffer>): AsyncGenerator<Line[]> {
  let held: Buffer[] = [];
  let size = 0;
  let enough = blockSize;
  let isFirst = true;

  for await (const chunk of input) {
    held.push(chunk);
    size += chunk.length;
    if (size < enough) continue;

    const block = Buffer.concat(held);
    const end = block.lastIndexOf(newline);
    if (end >= 0) {
      yield decode(block.subarray(0, end), isFirst);
      isFirst = false;
    }
    const rest = block.subarray(end + 1);
    held = [rest.length > maxLine ? unreadable : rest];
    size = rest.length > maxLine ? unreadable.length : rest.length;
    // Twice what was looked through in vain, or a long line would be looked through again and again.
    enough = Math.max(blockSize, 2 * size);
  }
  const rest = Buffer.concat(held);
  if (rest.length > 0) yield decode(rest, isFirst);
}

function decode(block: Buffer, isFirst: boolean): Line[] {
  const hasMark = isFirst && block.subarray(0, 3).equals(byteOrderMark);
  const text = hasMark ? block.subarray(3) : block;
  return isUtf8(text) ? text.toString().split('\n') : decodeEach(text);
}

const byteOrderMark = Buffer.of(0xef, 0xbb, 0xbf);

function decodeEach(block: Buffer): Line[] {
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

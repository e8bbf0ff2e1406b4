import { isUtf8 } from 'node:buffer';

/** A line that is not UTF-8 or is too long. */
export class UnreadableLine {
  readonly reason: string;
  /** The text, with U+FFFD for the bytes that are not UTF-8; empty when the line is too long. */
  readonly text: string;

  constructor(reason: string, text: string) {
    this.reason = reason;
    this.text = text;
  }
}

/** A line without its line end. */
export type Line = string | UnreadableLine;

/** Bytes. Lines are decoded and yielded in blocks of about this size. */
const blockSize = 1024 * 1024;
const maxLine = 64 * 1024 * 1024;
/** The most lines of a block. Rows need much more memory than very short lines. */
export const maxLines = 100_000;

/** Stands for the part of a too long line that has been dropped: UTF-8 never contains this byte. */
const dropped = Buffer.of(0xff);

/** Reads a UTF-8 text of any size in blocks of lines. A line end after the last line is optional. */
export async function* readLines(
  input: AsyncIterable<Buffer>,
  lineEnd = '\n',
): AsyncGenerator<Line[]> {
  const endByte = lineEnd.charCodeAt(0);
  let chunks: Buffer[] = [];
  let size = 0;
  let sizeToSearch = blockSize;
  let isTooLong = false;

  for await (const chunk of input) {
    chunks.push(chunk);
    size += chunk.length;
    if (size < sizeToSearch) continue;

    const bytes = Buffer.concat(chunks);
    const end = bytes.lastIndexOf(endByte);
    if (end >= 0) {
      yield* decode(bytes.subarray(0, end), lineEnd, isTooLong);
      isTooLong = false;
    }
    const rest = bytes.subarray(end + 1);
    if (rest.length > maxLine) isTooLong = true;
    const kept = isTooLong ? dropped : rest;
    chunks = [kept];
    size = kept.length;
    // Doubling keeps the total search time linear in the length of a long line.
    sizeToSearch = Math.max(blockSize, 2 * size);
  }
  const rest = Buffer.concat(chunks);
  const end = rest.at(-1) === endByte ? rest.length - 1 : rest.length;
  if (rest.length > 0) yield* decode(rest.subarray(0, end), lineEnd, isTooLong);
}

/** @param isTooLong whether the first line of the block is too long */
function* decode(block: Buffer, lineEnd: string, isTooLong: boolean): Generator<Line[]> {
  const lines = decodeLines(block, lineEnd, isTooLong);
  for (let start = 0; start < lines.length; start += maxLines) {
    yield lines.length <= maxLines ? lines : lines.slice(start, start + maxLines);
  }
}

function decodeLines(block: Buffer, lineEnd: string, isTooLong: boolean): Line[] {
  if (!isTooLong && isUtf8(block)) return block.toString().split(lineEnd);
  const lines: Line[] = [];
  for (let start = 0; start <= block.length; ) {
    const at = block.indexOf(lineEnd, start);
    const end = at < 0 ? block.length : at;
    lines.push(isTooLong && start === 0 ? tooLong : decodeLine(block.subarray(start, end)));
    start = end + 1;
  }
  return lines;
}

const tooLong = new UnreadableLine('is longer than 64 MiB', '');

function decodeLine(line: Buffer): Line {
  const text = line.toString();
  return isUtf8(line) ? text : new UnreadableLine(notUtf8, text);
}

const notUtf8 = 'is not UTF-8: if the file is Latin-1 or Windows-1252, add --encoding latin1';

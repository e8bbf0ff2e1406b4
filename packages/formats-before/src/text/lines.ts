import { concatenate } from './bytes.ts';

/** A line that is not UTF-8 or is too long. */
export class UnreadableLine {
  readonly reason: string;
  /** The text of the line, with U+FFFD for invalid bytes. Empty when the line is too long. */
  readonly text: string;

  constructor(reason: string, text: string) {
    this.reason = reason;
    this.text = text;
  }
}

/** A line without its line end. */
export type Line = string | UnreadableLine;

/** The approximate size of a block in bytes. `readLines` decodes and yields lines in blocks. */
const blockSize = 1024 * 1024;
const maxLine = 64 * 1024 * 1024;
/** The maximum number of lines in a block. The rows of short lines need much more memory than the lines. */
export const maxLines = 100_000;

/** This byte replaces the first part of a line that is too long. UTF-8 never contains this byte. */
const dropped = Uint8Array.of(0xff);

interface LineOptions {
  lineEnd: string;
  /** The advice for a line that is not UTF-8. */
  advice: string;
}

/** Reads a UTF-8 text of any size in blocks of lines. A line end after the last line is optional. */
export async function* readLines(
  input: AsyncIterable<Uint8Array>,
  options: LineOptions,
): AsyncGenerator<Line[]> {
  const endByte = options.lineEnd.charCodeAt(0);
  let chunks: Uint8Array[] = [];
  let size = 0;
  let sizeToSearch = blockSize;
  let isTooLong = false;

  for await (const chunk of input) {
    chunks.push(chunk);
    size += chunk.length;
    if (size < sizeToSearch) continue;

    const bytes = concatenate(chunks);
    const end = bytes.lastIndexOf(endByte);
    if (end >= 0) {
      yield* decode(bytes.subarray(0, end), options, isTooLong);
      isTooLong = false;
    }
    const rest = bytes.subarray(end + 1);
    if (rest.length > maxLine) isTooLong = true;
    const kept = isTooLong ? dropped : rest;
    chunks = [kept];
    size = kept.length;
    // Each search waits for twice as many bytes, so the time for a long line grows only linearly.
    sizeToSearch = Math.max(blockSize, 2 * size);
  }
  const rest = concatenate(chunks);
  const end = rest.at(-1) === endByte ? rest.length - 1 : rest.length;
  if (rest.length > 0) yield* decode(rest.subarray(0, end), options, isTooLong);
}

/** @param isTooLong whether the first line of the block is too long */
function* decode(block: Uint8Array, options: LineOptions, isTooLong: boolean): Generator<Line[]> {
  const lines = decodeLines(block, options, isTooLong);
  for (let start = 0; start < lines.length; start += maxLines) {
    yield lines.length <= maxLines ? lines : lines.slice(start, start + maxLines);
  }
}

function decodeLines(
  block: Uint8Array,
  { lineEnd, advice }: LineOptions,
  isTooLong: boolean,
): Line[] {
  const text = isTooLong ? undefined : utf8Text(block);
  if (text !== undefined) return text.split(lineEnd);
  const lines: Line[] = [];
  for (let start = 0; start <= block.length; ) {
    const at = block.indexOf(lineEnd.charCodeAt(0), start);
    const end = at < 0 ? block.length : at;
    const line = block.subarray(start, end);
    if (isTooLong && start === 0) lines.push(tooLong);
    else lines.push(utf8Text(line) ?? notUtf8(line, advice));
    start = end + 1;
  }
  return lines;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const lossyUtf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** @returns undefined when the bytes are not UTF-8 */
function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

const tooLong = new UnreadableLine('is longer than 64 MiB', '');

function notUtf8(line: Uint8Array, advice: string): UnreadableLine {
  const reason = `is not UTF-8: if the file is Latin-1 or Windows-1252, ${advice}`;
  return new UnreadableLine(reason, lossyUtf8.decode(line));
}

import { readText } from './read-text.ts';

/** Lines that were read together. */
export interface LineBlock {
  readonly lines: string[];
  /** How many bytes of the file they were. */
  readonly bytes: number;
}

/** Characters of a row, at most. The store takes bodies of 1 MiB. */
export const maxRowLength = 2 * 1024 * 1024;

/**
 * Reads the lines of a file of any size, without their newlines.
 *
 * @throws TypeError when the file is not UTF-8
 * @throws Error when a line is too long
 */
export async function* readLines(file: Blob): AsyncGenerator<LineBlock> {
  let rest = '';
  let count = 0;
  for await (const { text, bytes } of readText(file)) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    count += lines.length;
    if (rest.length > maxRowLength) throw new Error(`line ${count + 1} is too long`);
    yield { lines, bytes };
  }
  if (rest !== '') yield { lines: [rest], bytes: 0 };
}

import { decompress } from './decompress.ts';
import { type Encoding, toUtf8 } from './encoding.ts';
import { type Line, readLines } from './lines.ts';
import { peek } from './peek.ts';
import { checkHasNoZeros, checkIsText } from './unreadable-file.ts';

/** Bytes of a file in which its line ends are recognized. */
const headSize = 64 * 1024;

export type LineEnd = '\n' | '\r';

/**
 * Reads the lines of a text file: compressed or not, in the encoding of its byte order mark or in
 * `encoding`, with line ends LF, CRLF or CR.
 *
 * @throws CommandError when the file is no text
 */
export async function readText(file: AsyncIterable<Buffer>, encoding: Encoding | undefined) {
  const raw = await peek(decompress(file), headSize);
  checkIsText(raw.head);
  const { head, isWhole, input } = await peek(toUtf8(raw.input, encoding), headSize);
  checkHasNoZeros(head);
  const start = head.toString('latin1', 0, headSize);
  const lineEnd = findLineEnd(isWhole ? `${start}\n` : start);
  const lines: AsyncGenerator<Line[]> = readLines(input, lineEnd);
  return { lines, lineEnd };
}

/** Finds the first line end outside quotes: files with CR may have cells with LF, and vice versa. */
function findLineEnd(head: string): LineEnd {
  const [, first] = /^(?:[^"\r\n]|"[^"]*")*(\r(?!\n)|\n)./s.exec(head) ?? [];
  return first === '\r' ? '\r' : '\n';
}

import { type Decompressor, decompress } from './decompress.ts';
import { type Encoding, toUtf8 } from './encoding.ts';
import { type Advice, defaultAdvice } from './file-error.ts';
import { gzip } from './gzip.ts';
import { type Line, readLines } from './lines.ts';
import { peek } from './peek.ts';
import { checkHasNoZeros, checkIsText } from './unreadable-file.ts';

/** The number of bytes at the start of a file in which the reader looks for the first line end. */
const headSize = 64 * 1024;

export type LineEnd = '\n' | '\r';

export interface TextOptions {
  /** Default: the encoding of the byte order mark, or UTF-8 if there is no mark. */
  encoding?: Encoding | undefined;
  /** Default: {@link gzip}, which every browser has. */
  decompressors?: readonly Decompressor[] | undefined;
  /** Default: {@link defaultAdvice}. */
  advice?: Advice | undefined;
}

/**
 * Reads the lines of a text file, which may be compressed. The byte order mark names the encoding. `encoding`
 * names the encoding of a file without this mark. The line ends are LF, CRLF, CR CR LF or CR.
 *
 * @throws FileError when the file is not text
 */
export async function readText(
  file: AsyncIterable<Uint8Array>,
  { encoding, decompressors = [gzip], advice = defaultAdvice }: TextOptions = {},
) {
  const raw = await peek(decompress(file, decompressors), headSize);
  checkIsText(raw.head);
  const { head, isWhole, input } = await peek(toUtf8(raw.input, encoding), headSize);
  checkHasNoZeros(head, advice.utf16);
  const start = new TextDecoder('latin1').decode(head.subarray(0, headSize));
  const lineEnd = findLineEnd(isWhole ? `${start}\n` : start);
  const lines: AsyncGenerator<Line[]> = readLines(input, { lineEnd, advice: advice.latin1 });
  return { lines, lineEnd };
}

/**
 * Finds the first line end outside quotes. In a file with the line end CR, a quoted field may contain LF. In
 * a file with the line end LF, a quoted field may contain CR. Some programs on Windows write CR CR LF.
 */
function findLineEnd(head: string): LineEnd {
  const [, first = ''] = /^(?:[^"\r\n]|"[^"]*")*(\n|\r+[^\r])/.exec(head) ?? [];
  return first === '' || first.includes('\n') ? '\n' : '\r';
}

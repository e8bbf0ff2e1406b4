import { peek } from './peek.ts';

export const encodings = ['utf-8', 'utf-16le', 'utf-16be', 'latin1', 'windows-1252'] as const;

export type Encoding = (typeof encodings)[number];

const byteOrderMarks: [Encoding, Buffer][] = [
  ['utf-8', Buffer.of(0xef, 0xbb, 0xbf)],
  ['utf-16le', Buffer.of(0xff, 0xfe)],
  ['utf-16be', Buffer.of(0xfe, 0xff)],
];

/** UTF-8 never contains this byte. It stands for bytes that have no meaning in the encoding. */
const invalid = Buffer.of(0xff);

/**
 * Converts a text to UTF-8, without its byte order mark.
 *
 * @param encoding of a text without a byte order mark. Default: UTF-8.
 */
export async function* toUtf8(
  input: AsyncIterable<Buffer>,
  encoding: Encoding = 'utf-8',
): AsyncGenerator<Buffer> {
  const { head, input: bytes } = await peek(input, 3);
  const marked = byteOrderMarks.find(([, mark]) => mark.equals(head.subarray(0, mark.length)));
  const text = marked ? skip(bytes, marked[1].length) : bytes;
  const actual = marked?.[0] ?? encoding;
  if (actual === 'utf-8') yield* text;
  else if (actual === 'utf-16le' || actual === 'utf-16be') yield* fromUtf16(text, actual);
  else yield* fromWindows1252(text);
}

/** @param count at most the length of the first chunk */
async function* skip(input: AsyncIterable<Buffer>, count: number): AsyncGenerator<Buffer> {
  let rest = count;
  for await (const chunk of input) {
    yield chunk.subarray(rest);
    rest = 0;
  }
}

/** As in browsers, Latin-1 is Windows-1252: it differs only in characters that no text uses. */
async function* fromWindows1252(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder('windows-1252');
  for await (const chunk of input) yield Buffer.from(decoder.decode(chunk));
}

async function* fromUtf16(
  input: AsyncIterable<Buffer>,
  encoding: Encoding,
): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0); // One byte or none.
  let lead = ''; // The first half of a surrogate pair, or none.
  for await (const chunk of input) {
    const bytes = Buffer.concat([rest, chunk]);
    const end = bytes.length - (bytes.length % 2);
    const units = bytes.subarray(0, end);
    rest = bytes.subarray(end);
    if (encoding === 'utf-16be') units.swap16();
    const text = lead + units.toString('utf16le');
    lead = /[\uD800-\uDBFF]$/.exec(text)?.[0] ?? '';
    yield encode(lead ? text.slice(0, -1) : text);
  }
  if (lead || rest.length > 0) yield invalid;
}

/** Encodes a text as UTF-8. `Buffer.from` alone would change lone surrogates to U+FFFD. */
function encode(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text);
  const parts = text.split(/(\p{Surrogate})/u);
  return Buffer.concat(parts.map((part) => (part.isWellFormed() ? Buffer.from(part) : invalid)));
}

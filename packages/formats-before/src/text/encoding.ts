import { concatenate, startsWith } from './bytes.ts';
import { peek } from './peek.ts';

export const encodings = ['utf-8', 'utf-16le', 'utf-16be', 'latin1', 'windows-1252'] as const;

export type Encoding = (typeof encodings)[number];

type Utf16 = 'utf-16le' | 'utf-16be';

const byteOrderMarks: [Encoding, number[]][] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
];

/** 0xFF replaces an invalid character. UTF-8 never contains 0xFF, so the reader rejects the line. */
const invalid = Uint8Array.of(0xff);

const encoder = new TextEncoder();

/**
 * Converts a text to UTF-8, and removes the byte order mark.
 *
 * @param encoding the encoding of a text without a byte order mark. Default: UTF-8.
 */
export async function* toUtf8(
  input: AsyncIterable<Uint8Array>,
  encoding: Encoding = 'utf-8',
): AsyncGenerator<Uint8Array> {
  const { head, input: bytes } = await peek(input, 3);
  const marked = byteOrderMarks.find(([, mark]) => startsWith(head, mark));
  const text = marked ? skip(bytes, marked[1].length) : bytes;
  const actual = marked?.[0] ?? encoding;
  if (actual === 'utf-8') yield* text;
  else if (actual === 'utf-16le' || actual === 'utf-16be') yield* fromUtf16(text, actual);
  else yield* fromWindows1252(text);
}

/** Skips `count` bytes. The first chunk must have at least `count` bytes. */
async function* skip(input: AsyncIterable<Uint8Array>, count: number): AsyncGenerator<Uint8Array> {
  let rest = count;
  for await (const chunk of input) {
    yield chunk.subarray(rest);
    rest = 0;
  }
}

/** Reads Latin-1 as Windows-1252, as browsers do. The two encodings differ only in control characters. */
async function* fromWindows1252(input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder('windows-1252');
  for await (const chunk of input) yield encoder.encode(decoder.decode(chunk));
}

async function* fromUtf16(
  input: AsyncIterable<Uint8Array>,
  encoding: Utf16,
): AsyncGenerator<Uint8Array> {
  const decode = unitDecoder(encoding);
  let rest = new Uint8Array(); // `rest` contains one byte or none.
  let lead = ''; // The first half of a surrogate pair, or an empty text.
  for await (const chunk of input) {
    const bytes = concatenate([rest, chunk]);
    const end = bytes.length - (bytes.length % 2);
    rest = bytes.subarray(end);
    const text = lead + decode(bytes.subarray(0, end));
    lead = /[\uD800-\uDBFF]$/.exec(text)?.[0] ?? '';
    yield encode(lead ? text.slice(0, -1) : text);
  }
  if (lead || rest.length > 0) yield invalid;
}

/** Makes a function that decodes whole code units of UTF-16, and does not change lone surrogates. */
function unitDecoder(encoding: Utf16): (units: Uint8Array) => string {
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  return (units) => {
    try {
      return decoder.decode(units);
    } catch {
      const view = new DataView(units.buffer, units.byteOffset, units.length);
      const isLittleEndian = encoding === 'utf-16le';
      return Array.from({ length: units.length / 2 }, (_, i) =>
        String.fromCharCode(view.getUint16(2 * i, isLittleEndian)),
      ).join('');
    }
  };
}

/** Encodes a text as UTF-8. Replaces each lone surrogate by 0xFF, so that the reader rejects the line. */
function encode(text: string): Uint8Array {
  if (text.isWellFormed()) return encoder.encode(text);
  const parts = text.split(/(\p{Surrogate})/u);
  return concatenate(parts.map((part) => (part.isWellFormed() ? encoder.encode(part) : invalid)));
}

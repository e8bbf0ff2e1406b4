/** The facts that `readLines` finds out about a file. */
export interface TextFacts {
  /** The encoding that the byte order mark names. Without a mark, this is the caller's encoding. */
  encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';
  /** The first line end in the file. The file is split only at this line end. LF includes CRLF. */
  lineEnd: '\n' | '\r';
}

export type ByteStream = ReadableStream<Uint8Array<ArrayBuffer>>;

/** The maximum number of characters in a line or a row. This limit bounds the memory. */
export const maxOpenText = 16 * 1024 * 1024;

/**
 * Reads the lines of a stream, which may be compressed by gzip. A line that ends with CRLF keeps the CR.
 *
 * @throws FileError after the last whole line, when the rest is not text, is damaged, or exceeds `maxOpenText`
 */
export async function* readLines(stream: ByteStream, facts: TextFacts) {
  let rest = '';
  let count = 0;
  let lineEnd: TextFacts['lineEnd'] | undefined;
  for await (const { text, isEnd, isValid } of readText(stream, facts)) {
    rest += text;
    const unsearched = lineEnd ? text : rest;
    lineEnd ??= findLineEnd(rest, isEnd);
    if (lineEnd && (isEnd || unsearched.includes(lineEnd))) {
      facts.lineEnd = lineEnd;
      const lines = rest.split(lineEnd);
      rest = lines.pop() ?? '';
      if (isEnd && isValid && rest !== '') lines.push(rest);
      count += lines.length;
      yield lines;
    }
    if (!isValid) {
      const { encoding } = facts;
      const excel = encoding === 'utf-8' ? ', or read it as Windows-1252 if Excel wrote it' : '';
      const fault = `is not ${encoding.toUpperCase()}: save it as UTF-8${excel}`;
      throw new EncodingError(fault, count + 1);
    }
    if (rest.length <= maxOpenText) continue;
    throw new FileError('is longer than 16 MiB: check the line ends', count + 1);
  }
}

function findLineEnd(text: string, isEnd: boolean): TextFacts['lineEnd'] | undefined {
  const at = text.search(/[\r\n]/);
  if (!isEnd && (at < 0 || at === text.length - 1)) return undefined; // LF may follow CR.
  return text[at] === '\r' && text[at + 1] !== '\n' ? '\r' : '\n';
}

/** Decodes a stream. When bytes are not valid, the text ends before these bytes. */
async function* readText(stream: ByteStream, facts: TextFacts) {
  const reader = (await decompress(stream)).getReader();
  let head = new Blob([]);
  let decode: ReturnType<typeof decoderFor> | undefined;
  try {
    for (let isEnd = false; !isEnd; ) {
      const { done, value = new Uint8Array() } = await reader.read().catch(throwDamaged);
      isEnd = done;
      let bytes: Uint8Array = value;
      if (!decode) {
        head = new Blob([head, value]);
        if (head.size < 4 && !isEnd) continue; // The first four bytes show the encoding.
        bytes = new Uint8Array(await head.arrayBuffer());
        decode = decoderFor(bytes, facts);
      }
      yield { ...decode(bytes, isEnd), isEnd };
    }
  } finally {
    await reader.cancel().catch(() => {}); // The caller already has the error of the stream.
  }
}

/** Decompresses a stream that begins with the first byte of gzip. No CSV or NDJSON begins with this byte. */
async function decompress(stream: ByteStream): Promise<ByteStream> {
  const [start, whole] = stream.tee();
  const reader = start.getReader();
  const { value } = await reader.read();
  reader.cancel().catch(() => {}); // `whole` gets an error of the stream, and cancels the stream.
  return value?.[0] === 0x1f ? whole.pipeThrough(new DecompressionStream('gzip')) : whole;
}

/** Turns an error of decompression, which is a `TypeError`, into a `FileError`. */
function throwDamaged(error: unknown): never {
  if (!(error instanceof TypeError)) throw error;
  const fault = 'ends early, is damaged, or has several parts of gzip: copy it again, or unpack it';
  throw new FileError(fault);
}

/** Makes a decoder for a file with these first bytes. A byte order mark names the encoding. */
function decoderFor(head: Uint8Array, facts: TextFacts) {
  const bytes = Array.from(head.subarray(0, 4), (byte) => byte.toString(16).padStart(2, '0'));
  const hex = bytes.join('');
  if (hex === '504b0304' || hex === 'd0cf11e0') {
    throw new FileError('is a spreadsheet or a ZIP archive: save it as CSV (UTF-8)');
  }
  if (hex.startsWith('efbbbf')) facts.encoding = 'utf-8';
  if (hex.startsWith('fffe')) facts.encoding = 'utf-16le';
  if (hex.startsWith('feff')) facts.encoding = 'utf-16be';
  const { encoding } = facts;
  const lossy = new TextDecoder(encoding);
  const strict = new TextDecoder(encoding, { fatal: true });
  return (bytes: Uint8Array, isEnd: boolean) => {
    const text = lossy.decode(bytes, { stream: !isEnd });
    // Decoders accept the five bytes that Windows-1252 does not define.
    let invalid = encoding === 'windows-1252' ? text.search(/[\x81\x8d\x8f\x90\x9d]/) : -1;
    try {
      strict.decode(bytes, { stream: !isEnd });
    } catch {
      invalid = text.search(/\ufffd|$/);
    }
    return invalid < 0 ? { text, isValid: true } : { text: text.slice(0, invalid), isValid: false };
  };
}

/** The error for a file that cannot be read to its end. The message has the line, the reason and the advice. */
export class FileError extends Error {
  /** @param line undefined when the line of the fault is unknown */
  constructor(fault: string, line?: number) {
    super(`${line === undefined ? 'the file' : `line ${line}`} ${fault}`);
  }
}

/** The error for bytes that the encoding does not allow. Another encoding may be the right one. */
export class EncodingError extends FileError {}

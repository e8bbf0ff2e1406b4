import { pipeline, Readable } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { type Advice, type Decompressor, FileError } from '@plant-store/formats';
import { CommandError, usageError } from '../command-line/errors.ts';

/** The advice in errors about files. Each text names the option to add to the command. */
export const advice: Advice = {
  csv: 'add --format csv',
  ndjson: 'add --format ndjson',
  delimiter: 'name the delimiter with --delimiter',
  latin1: 'add --encoding latin1',
  utf16: 'add --encoding utf-16le or utf-16be',
};

/** Turns the error of an unreadable file into a usage error. Returns any other error unchanged. */
export function asCommandError(error: unknown): unknown {
  return error instanceof FileError ? usageError(error.message, { cause: error.cause }) : error;
}

/** Decompressors for gzip and zstd, from Node's zlib. */
export const decompressors: readonly Decompressor[] = [
  { signature: [0x1f, 0x8b], decompress: (input) => decompress(input, 'gzip', createGunzip()) },
  {
    signature: [0x28, 0xb5, 0x2f, 0xfd],
    decompress: (input) => decompress(input, 'zstd', createZstdDecompress()),
  },
];

async function* decompress(
  input: AsyncIterable<Uint8Array>,
  name: string,
  decompressor: ReturnType<typeof createGunzip | typeof createZstdDecompress>,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  const count = async function* () {
    for await (const chunk of input) {
      size += chunk.length;
      yield chunk;
    }
  };
  // An error of this pipeline appears in the loop over its output.
  pipeline(Readable.from(count()), decompressor, () => {});
  try {
    for await (const chunk of decompressor) yield chunk;
  } catch (cause) {
    if (!isZlibError(cause)) throw cause;
    const message = `the ${name} data is damaged or incomplete (${cause.message})`;
    throw new CommandError(`${message}: make or copy the file again`, { cause });
  }
  // Node stops after the first zstd frame, so it has read fewer bytes than the file has.
  if (decompressor.bytesWritten < size) {
    const command = 'zstd -dc <file> | plant-store import - --format …';
    throw new CommandError(`the zstd data has several frames: run ${command}`);
  }
}

function isZlibError(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && /^(Z|ZSTD)_/.test(String(error.code));
}

import { pipeline, Readable } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import type { Decompressor } from '../text/decompress.ts';
import { FileError } from '../text/file-error.ts';

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
  // The callback is empty, because the loop over `decompressor` throws the error of the pipeline.
  pipeline(Readable.from(count()), decompressor, () => {});
  try {
    for await (const chunk of decompressor) yield chunk;
  } catch (cause) {
    if (!isZlibError(cause)) throw cause;
    const message = `the ${name} data is damaged or incomplete (${cause.message})`;
    throw new FileError(`${message}: make or copy the file again`, { cause });
  }
  // Node ignores the data after the first frame of zstd, and the data after zeros in gzip.
  if (decompressor.bytesWritten < size) {
    throw new FileError(`the ${name} data has several parts: unpack the file by \`${name} -d\``);
  }
}

function isZlibError(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && /^(Z|ZSTD)_/.test(String(error.code));
}

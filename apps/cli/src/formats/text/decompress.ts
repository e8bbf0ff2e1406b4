import { pipeline, Readable } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { CommandError } from '../../command-line/errors.ts';
import { peek } from './peek.ts';

const formats = [
  { name: 'gzip', signature: Buffer.of(0x1f, 0x8b), start: createGunzip },
  { name: 'zstd', signature: Buffer.of(0x28, 0xb5, 0x2f, 0xfd), start: createZstdDecompress },
];

/** Decompresses an input that starts as gzip or zstd does. Yields any other input as it is. */
export async function* decompress(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const { head, input: bytes } = await peek(input, 4);
  const format = formats.find(({ signature }) =>
    signature.equals(head.subarray(0, signature.length)),
  );
  if (!format) {
    yield* bytes;
    return;
  }
  let size = 0;
  const count = async function* () {
    for await (const chunk of bytes) {
      size += chunk.length;
      yield chunk;
    }
  };
  const decompressor = format.start();
  pipeline(Readable.from(count()), decompressor, () => {}); // The loop throws its error.
  try {
    for await (const chunk of decompressor) yield chunk;
  } catch (cause) {
    if (!isZlibError(cause)) throw cause;
    const message = `the ${format.name} data is damaged or incomplete (${cause.message})`;
    throw new CommandError(`${message}: make or copy the file again`, { cause });
  }
  // Node ends at the end of the first frame, and ignores the rest.
  if (decompressor.bytesWritten < size) {
    const command = 'zstd -dc <file> | plant-store import - --format …';
    throw new CommandError(`the zstd data has several frames: run ${command}`);
  }
}

function isZlibError(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && /^(Z|ZSTD)_/.test(String(error.code));
}

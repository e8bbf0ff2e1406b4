import { bytesOf } from './bytes.ts';
import type { Decompressor } from './decompress.ts';
import { FileError } from './file-error.ts';

/** Decompresses gzip in a browser. `node:zlib` is faster, and also reads files with several members. */
export const gzip: Decompressor = {
  signature: [0x1f, 0x8b],

  async *decompress(input) {
    let inputError: unknown;
    const iterator = input[Symbol.asyncIterator]();
    const compressed = new ReadableStream<Uint8Array<ArrayBuffer>>({
      async pull(controller) {
        try {
          const { value, done } = await iterator.next();
          if (done) controller.close();
          else controller.enqueue(new Uint8Array(value));
        } catch (error) {
          inputError = error;
          controller.error(error);
        }
      },
      async cancel() {
        await iterator.return?.();
      },
    });
    try {
      yield* bytesOf(compressed.pipeThrough(new DecompressionStream('gzip')));
    } catch (cause) {
      if (inputError !== undefined) throw inputError;
      const message = 'the gzip data is damaged or incomplete, or has several parts';
      throw new FileError(`${message}: unpack the file, or make or copy it again`, { cause });
    }
  },
};

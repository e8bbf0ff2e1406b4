import { startsWith } from './bytes.ts';
import { peek } from './peek.ts';

/** A decompressor for the files that start with the bytes of `signature`. */
export interface Decompressor {
  readonly signature: readonly number[];
  /** @throws when the data is damaged or incomplete */
  decompress(input: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
}

/** Decompresses an input that starts with a known signature. Yields any other input unchanged. */
export async function* decompress(
  input: AsyncIterable<Uint8Array>,
  decompressors: readonly Decompressor[],
): AsyncGenerator<Uint8Array> {
  const { head, input: bytes } = await peek(input, 4);
  const format = decompressors.find(({ signature }) => startsWith(head, signature));
  yield* format ? format.decompress(bytes) : bytes;
}

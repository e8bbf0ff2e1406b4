import { concatenate } from './bytes.ts';

/** The first bytes of an input, and the whole input. */
export interface Peeked {
  head: Uint8Array;
  /** Whether `head` contains the whole input. */
  isWhole: boolean;
  input: AsyncGenerator<Uint8Array>;
}

/**
 * Reads at least the first `size` bytes of an input, or all bytes when the input is shorter. The returned
 * `input` yields these bytes again.
 */
export async function peek(input: AsyncIterable<Uint8Array>, size: number): Promise<Peeked> {
  const iterator = input[Symbol.asyncIterator]();
  let head = new Uint8Array();
  let isWhole = false;
  while (head.length < size && !isWhole) {
    const { value, done } = await iterator.next();
    if (done) isWhole = true;
    else head = concatenate([head, value]);
  }
  return { head, isWhole, input: all(head, isWhole, iterator) };
}

async function* all(head: Uint8Array, isWhole: boolean, iterator: AsyncIterator<Uint8Array>) {
  try {
    yield head;
    if (!isWhole) yield* { [Symbol.asyncIterator]: () => iterator };
  } finally {
    await iterator.return?.();
  }
}

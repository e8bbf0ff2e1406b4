/** The first bytes of an input, and the whole input. */
export interface Peeked {
  head: Buffer;
  /** Whether the head is the whole input. */
  isWhole: boolean;
  input: AsyncGenerator<Buffer>;
}

/** Reads at least the first `size` bytes of an input, if it has so many, and still yields all. */
export async function peek(input: AsyncIterable<Buffer>, size: number): Promise<Peeked> {
  const iterator = input[Symbol.asyncIterator]();
  let head: Buffer = Buffer.alloc(0);
  let isWhole = false;
  while (head.length < size && !isWhole) {
    const { value, done } = await iterator.next();
    if (done) isWhole = true;
    else head = head.length === 0 ? value : Buffer.concat([head, value]);
  }
  return { head, isWhole, input: all(head, isWhole, iterator) };
}

async function* all(head: Buffer, isWhole: boolean, iterator: AsyncIterator<Buffer>) {
  try {
    yield head;
    if (!isWhole) yield* { [Symbol.asyncIterator]: () => iterator };
  } finally {
    await iterator.return?.();
  }
}

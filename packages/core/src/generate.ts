/**
 * Makes an async generator that yields the values of `produce`. While a plain generator function waits for
 * the next value, it keeps the last value in memory. With such functions, each follower of the feed would
 * keep a page in memory.
 */
export function generate<T>(produce: () => Promise<T>): AsyncGenerator<T, never> {
  let isEnded = false;
  let last: Promise<unknown> = Promise.resolve();
  const end = async (): Promise<IteratorResult<T, never>> => {
    isEnded = true;
    // The type of the last result requires a value, but nobody reads this value.
    return { done: true, value: undefined as never };
  };
  const produceNext = async (): Promise<IteratorResult<T, never>> => ({ value: await produce() });
  return {
    next() {
      const result = last.then(() => (isEnded ? end() : produceNext()));
      last = result.catch(end).then(() => {});
      return result;
    },
    return: end,
    async throw(error) {
      await end();
      throw error;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
    async [Symbol.asyncDispose]() {
      await end();
    },
  };
}

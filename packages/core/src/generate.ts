/**
 * Makes an async generator that yields the values of `produce`. A plain generator function would keep its
 * last value in memory while it waits for the next value. Each follower of the feed would thus keep a page.
 */
export function generate<T>(produce: () => Promise<T>): AsyncGenerator<T, never> {
  let isEnded = false;
  let last: Promise<unknown> = Promise.resolve();
  const end = async (): Promise<IteratorResult<T, never>> => {
    isEnded = true;
    // At the end of the generator, the type expects a value, which nobody reads.
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

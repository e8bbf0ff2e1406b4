/** Yields a generator's values, and requests the next value while the caller uses the current one. */
export async function* readAhead<T>(values: AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    let next = values.next();
    for (;;) {
      const { value, done } = await next;
      if (done) return;
      next = values.next();
      next.catch(() => {}); // The next turn of the loop awaits it and throws its error.
      yield value;
    }
  } finally {
    // Not awaited: the generator may be waiting for input that never comes.
    void values.return(undefined);
  }
}

/** Gives the values of a generator, and makes it work on the next while one is used. */
export async function* readAhead<T>(values: AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    let next = values.next();
    for (;;) {
      const { value, done } = await next;
      if (done) return;
      next = values.next();
      next.catch(() => {}); // Whoever comes for the next value is told.
      yield value;
    }
  } finally {
    // Not waited for: the generator may be reading from somebody who never sends more.
    void values.return(undefined);
  }
}

/** Milliseconds. Without reads, an idle instance would not notice that the database is down. */
const interval = 15_000;

/** Reads a value from the database at intervals. The returned function gives the caller the last value. */
export function watchDatabase<T>(first: T, read: () => Promise<T>): () => T {
  let last = first;
  const readAgain = async () => {
    last = await read().catch(() => last);
  };
  void readAgain();
  setInterval(readAgain, interval).unref();
  return () => last;
}

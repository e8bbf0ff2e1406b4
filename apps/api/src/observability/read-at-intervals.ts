/** Milliseconds. Without reads, an idle instance would not notice that the database is down. */
const interval = 15_000;

/** Reads a state at intervals. The returned function gives the caller the last state. */
export function readAtIntervals<State>(first: State, read: () => Promise<State>): () => State {
  let state = first;
  const renew = async () => {
    state = await read().catch(() => state);
  };
  void renew();
  setInterval(renew, interval).unref();
  return () => state;
}

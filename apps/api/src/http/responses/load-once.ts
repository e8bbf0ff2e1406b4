/**
 * Makes a function that loads a value when it is first called. After an error, the next call loads
 * it again: the first call may have failed because no file descriptor was left.
 */
export function loadOnce<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let loaded: Promise<Value> | undefined;
  return () => {
    loaded ??= load().catch((error) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
}

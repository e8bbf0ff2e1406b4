/**
 * Makes a function that loads a value when it is first called. After an error, the next call loads the
 * value again, because the process may have lacked file descriptors for a moment.
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

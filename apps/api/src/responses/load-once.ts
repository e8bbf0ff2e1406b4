/**
 * Makes a function that loads a value when it is first called. After an error, which may be a temporary lack
 * of file descriptors, the next call loads the value again.
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

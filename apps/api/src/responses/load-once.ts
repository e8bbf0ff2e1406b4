/**
 * Makes a function that loads a value when it is first called. After an error, the next call loads it
 * again, because the error may have been a temporary lack of file descriptors.
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

const callbacks = new Set<() => void>();

// All callbacks share one listener, because Node warns about more than ten listeners.
process.once('exit', () => {
  for (const callback of callbacks) callback();
});

/**
 * Calls a function when this process exits. An interrupted test run can thus stop the processes that it has
 * started.
 *
 * @returns a function that cancels the call
 */
export function atExit(callback: () => void): () => void {
  callbacks.add(callback);
  return () => void callbacks.delete(callback);
}

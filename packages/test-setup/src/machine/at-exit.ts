const callbacks = new Set<() => void>();

// One listener for all callbacks: Node warns when an event has more than ten listeners.
process.once('exit', () => {
  for (const callback of callbacks) callback();
});

/**
 * Calls a function when this process exits. Tests use it to stop the processes that they have
 * started, even when a test run is cut short.
 *
 * @returns a function that cancels the call
 */
export function atExit(callback: () => void): () => void {
  callbacks.add(callback);
  return () => void callbacks.delete(callback);
}

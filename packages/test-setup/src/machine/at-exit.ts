import type { ChildProcess } from 'node:child_process';

const callbacks = new Set<() => void>();

// All callbacks share one listener, because Node warns about more than ten listeners.
process.once('exit', () => {
  for (const callback of callbacks) callback();
});

/**
 * Calls `callback` when this process exits. An interrupted test run can thus stop the processes that it has
 * started. Returns a function that removes `callback`.
 */
export function atExit(callback: () => void): () => void {
  callbacks.add(callback);
  return () => void callbacks.delete(callback);
}

/** Kills a process when this process exits. */
export function endWithThisProcess(child: ChildProcess): void {
  child.once(
    'exit',
    atExit(() => child.kill('SIGKILL')),
  );
}

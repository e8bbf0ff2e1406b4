const acts = new Set<() => void>();

// One listener for all of them: Node warns of more than ten.
process.once('exit', () => {
  for (const act of acts) act();
});

/**
 * Has something done when this process ends, so that what tests have started stops with them even
 * where they end without saying so.
 *
 * @returns a function that takes it back
 */
export function atExit(act: () => void): () => void {
  acts.add(act);
  return () => void acts.delete(act);
}

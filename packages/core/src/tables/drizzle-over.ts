import { drizzle } from 'drizzle-orm/pg-proxy';
import type { Run, RunOptions } from '../database/verbs.ts';

/** Makes a Drizzle client that runs statements with `run`, which is `read` or `write`. */
export function drizzleOver(run: Run, options: RunOptions) {
  return drizzle((text, values) => run(text, values, { ...options, rowsAs: 'arrays' }));
}

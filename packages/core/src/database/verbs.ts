import type { ConnectionPool } from './connection-pool.ts';
import type { Verbs } from './database.ts';
import { orUnavailable } from './database-error.ts';

/** Makes the verbs from a function that throws the errors of the connection and the database themselves. */
export function createVerbs(run: ConnectionPool['run']): Verbs {
  return {
    read: (text, values, options) =>
      orUnavailable(run(text, values, { ...options, isRepeatable: true }), options.advice),
    write: (text, values, options) => orUnavailable(run(text, values, options), options.advice),
  };
}

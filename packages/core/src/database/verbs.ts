import { type Advice, orUnavailable } from './database-error.ts';
import type { Caller, Deadline } from './deadline.ts';
import type { Rows, RowsAs, Values } from './query.ts';

/**
 * The kinds of statements. Each kind has its own connections, so that one kind cannot block another. The
 * statements of `bulk` are about many plants, and may take minutes. Searches use a connection for lists, one at
 * a time, so that other lists need not wait for many searches.
 */
export type Share = 'creates' | 'deletes' | 'lookUps' | 'lists' | 'searches' | 'bulk';

export interface RunOptions {
  readonly share: Share;
  /** The time at which the statement is cancelled. Default: in 5 s, or in 10 minutes for `bulk`. */
  readonly deadline?: Deadline | undefined;
  /** The time until which the caller waits for the outcome. Default: the deadline. */
  readonly until?: Deadline | undefined;
  /** When the caller disconnects, a statement that still waits for a connection is dropped. */
  readonly caller?: Caller | undefined;
  /** Is called before the statement is sent. When it throws, the statement is not sent. */
  readonly onTurn?: (() => void) | undefined;
  readonly rowsAs?: RowsAs;
  /** What the error of a statement tells the client to do. */
  readonly advice?: Advice;
}

/** The two ways to run a statement of a room. */
export interface Verbs {
  /**
   * Runs a statement once more when its connection is lost, because the server may have closed an idle
   * connection.
   */
  readonly read: Run;
  /** Never runs a statement twice. */
  readonly write: Run;
}

/**
 * Runs a prepared statement.
 *
 * @param values the values of the statement's parameters, or a function that makes them. The function gets
 *   the deadline by the database's clock. A write passes this deadline to the database, and changes nothing
 *   when it is late.
 * @throws PlantStoreError `overloaded` when too many statements of its kind wait; `databaseUnavailable` or
 *   `plantRejected` with the error of the connection or the database as its cause
 */
export type Run = (
  text: string,
  values: Values | ((deadline: string) => Values),
  options: RunOptions,
) => Promise<Rows>;

/** The options of a verb, and the one that tells the verbs apart. */
export interface StatementOptions extends RunOptions {
  /** Whether the statement may run again after its connection was lost. */
  readonly isRepeatable?: boolean;
}

/** Makes the verbs from a function that throws the errors of the connection and the database themselves. */
export function createVerbs(
  run: (text: string, values: Parameters<Run>[1], options: StatementOptions) => Promise<Rows>,
): Verbs {
  return {
    read: (text, values, options) =>
      orUnavailable(run(text, values, { ...options, isRepeatable: true }), options.advice),
    write: (text, values, options) => orUnavailable(run(text, values, options), options.advice),
  };
}

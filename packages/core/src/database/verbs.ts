import { type Advice, hasInvalidText, invalidText, orUnavailable } from './database-error.ts';
import type { Caller, Deadline } from './deadline.ts';
import type { Rows, RowsAs, Values } from './query.ts';

/**
 * The kinds of statements. Each kind of statement has its own connections, so that one kind cannot block
 * another. A `bulk` statement concerns many plants, and may take minutes. Only one search runs at a time, on
 * a connection for lists, so that searches do not block the other lists.
 */
export type Share = 'creates' | 'deletes' | 'lookUps' | 'lists' | 'searches' | 'bulk';

export interface RunOptions {
  readonly share: Share;
  /** The time at which the database cancels the statement. Default: in 5 s, or in 10 minutes for `bulk`. */
  readonly deadline?: Deadline | undefined;
  /** The time until which the caller waits for the outcome. Default: the deadline. */
  readonly until?: Deadline | undefined;
  /** When the caller disconnects, the pool drops a statement that still waits for a connection. */
  readonly caller?: Caller | undefined;
  /** Called before the statement is sent. If this function throws, the statement is not sent. */
  readonly onTurn?: (() => void) | undefined;
  readonly rowsAs?: RowsAs;
  /** The advice for the client. An error of the statement contains this advice. */
  readonly advice?: Advice;
}

/** Two ways to run a statement. A read may be repeated. A write may not be repeated. */
export interface Verbs {
  /** Runs a statement, and repeats it once if the server has closed the connection. */
  readonly read: Run;
  /** Never runs a statement twice. */
  readonly write: Run;
}

/**
 * Runs a prepared statement.
 *
 * @param values the parameters of the statement, or a function that returns the parameters. The function gets
 *   the deadline as a time on the database's clock. A write passes this deadline to the database, so that a
 *   late write changes nothing.
 * @throws PlantStoreError `overloaded` when too many statements of this kind wait.
 * @throws PlantStoreError `invalidInput` when the database's encoding lacks a character of `values`.
 * @throws PlantStoreError `databaseUnavailable` or `plantRejected` with the original error as its cause.
 */
export type Run = (
  text: string,
  values: Values | ((deadline: string) => Values),
  options: RunOptions,
) => Promise<Rows>;

/** The options of a statement, and `isRepeatable`, which is different for `read` and `write`. */
export interface StatementOptions extends RunOptions {
  /** Whether the statement may run again when its connection is lost. */
  readonly isRepeatable?: boolean;
}

/** Makes `read` and `write` from `run`, which throws the errors of the connection and the database. */
export function createVerbs(
  run: (text: string, values: Parameters<Run>[1], options: StatementOptions) => Promise<Rows>,
): Verbs {
  const runAs =
    (isRepeatable: boolean): Run =>
    (text, values, options) => {
      const rows = run(text, values, { ...options, isRepeatable }).catch((error) => {
        throw hasInvalidText(error) && hasUnicode(values) ? invalidText('text', error) : error;
      });
      return orUnavailable(rows, options.advice);
    };
  return { read: runAs(true), write: runAs(false) };
}

/** Whether a parameter has a character that some encodings lack. All encodings of Postgres have ASCII. */
function hasUnicode(values: Parameters<Run>[1]): boolean {
  return typeof values !== 'function' && values.some((value) => /\P{ASCII}/u.test(value ?? ''));
}

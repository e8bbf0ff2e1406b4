import type { Rows, RowsAs, Values } from '../database/query.ts';

/** The data that the worker gets when the worker starts. */
export interface WorkerInput {
  /** The URL or the name of PGlite's module. */
  readonly pglite: string;
  readonly dataDirectory: string;
}

export interface Statement {
  readonly text: string;
  /**
   * The worker prepares each statement that has `values` but no `rowsAs`, because these statements run often.
   */
  readonly values?: Values;
  readonly rowsAs?: RowsAs | undefined;
}

/** A task for the worker. The first task must be `open`. */
export type Task = 'open' | Statement | 'close';

/** A message to the worker. */
export interface Call {
  readonly id: number;
  readonly task: Task;
}

interface StatementError {
  readonly message: string;
  readonly code: string | undefined;
  /** Postgres's severity. If the severity is `ERROR`, the statement has changed nothing. */
  readonly severity: unknown;
}

/** A message from the worker: the outcome of the call with this id. */
export type Outcome = { readonly id: number } & (
  | { readonly result: Rows }
  | { readonly error: StatementError }
);

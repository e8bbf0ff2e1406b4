import type { Rows, RowsAs, Values } from '../database/query.ts';

/** The worker's data: the PGlite module and the directory of the database. */
export interface WorkerInput {
  /** The URL of PGlite's module, or its name. */
  readonly pglite: string;
  readonly dataDirectory: string;
}

export interface Statement {
  readonly text: string;
  /** With values and without `rowsAs`, the statement is prepared, because it runs often. */
  readonly values?: Values;
  readonly rowsAs?: RowsAs | undefined;
  /** The content of the file `/dev/blob` during the statement. */
  readonly blob?: Uint8Array;
}

/** A task for the worker. The first one must be `open`. */
export type Task = 'open' | Statement | 'close';

/** A message to the worker. */
export interface Call {
  readonly id: number;
  readonly task: Task;
}

interface StatementError {
  readonly message: string;
  readonly code: string | undefined;
  /** Postgres's severity: after `ERROR` the statement has changed nothing. */
  readonly severity: unknown;
}

/** A message from the worker, about the call with this id. */
export type Outcome = { readonly id: number } & (
  | { readonly result: Rows }
  | { readonly error: StatementError }
);

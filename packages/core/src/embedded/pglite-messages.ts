/** The worker's data: the PGlite module and the directory of the database. */
export interface WorkerInput {
  /** The URL of PGlite's module, or its name. */
  readonly pglite: string;
  readonly dataDirectory: string;
}

/** A statement that is prepared, because it runs often. Its rows are arrays. */
export interface PreparedStatement {
  readonly text: string;
  /** The values of the statement's parameters. */
  readonly texts: readonly (string | null)[];
}

/** A statement that is not prepared. */
interface SingleStatement {
  readonly text: string;
  readonly values?: readonly unknown[];
  /** Default: `array`. */
  readonly rowMode?: 'array' | 'object';
  /** The content of the file `/dev/blob` during the statement. */
  readonly blob?: Uint8Array;
}

export type Statement = PreparedStatement | SingleStatement;

/** A task for the worker. The first one must be `open`. */
export type Task = 'open' | Statement | 'close';

/** A message to the worker. */
export interface Call {
  readonly id: number;
  readonly task: Task;
}

/** The rows of a statement, and how many rows it returned or changed. */
export interface Result {
  readonly rows: unknown[];
  readonly count: number;
}

interface StatementError {
  readonly message: string;
  readonly code: string | undefined;
  /** Postgres's severity: after `ERROR` the statement has changed nothing. */
  readonly severity: unknown;
}

/** A message from the worker, about the call with this id. */
export type Outcome = { readonly id: number } & (
  | { readonly result: Result }
  | { readonly error: StatementError }
);

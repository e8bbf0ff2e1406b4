/** Requests for a generator to send over keep-alive connections, each with the next id. */
export interface Load {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  /** An id replaces `{id}`. */
  readonly path: string;
  readonly accessToken: string;
  /** The parts of a request's body between which the ids go. */
  readonly bodyParts: readonly string[];
  readonly ids: IdRange;
  readonly connections: number;
  /** A whole number. */
  readonly seconds: number;
}

/** The ids of a load: those of `first`, `first + 1` and so on in an order. */
export interface IdRange {
  readonly first: number;
  readonly order: IdOrder;
}

/**
 * `int64`: ids of 19 digits in random order, over all of int64. `sequential`: 1, 2 and so on.
 * `scattered` and `stored`: see ids.ts.
 */
export type IdOrder = 'int64' | 'sequential' | 'scattered' | 'stored';

export interface LoadResult {
  /** Replies with a status under 400. */
  readonly replies: number;
  /** Other replies, broken connections and missing replies. */
  readonly errors: number;
  /** The measured duration. */
  readonly seconds: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

export interface LoadGenerator {
  readonly name: string;
  run(load: Load): Promise<LoadResult>;
}

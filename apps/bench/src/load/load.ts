import type { IdOrder } from './ids.ts';
import type { RequestFormat } from './request-format.ts';

/** The access token that every contender accepts. */
export const accessToken = 'token-of-the-benchmark';

/**
 * The requests that a load generator sends over keep-alive connections. Each request uses the next ids after
 * the ids of the previous request.
 */
export interface Load {
  readonly url: string;
  readonly format: RequestFormat;
  readonly order: IdOrder;
  /** The number of the first id. */
  readonly first: number;
  readonly connections: number;
  /** Whole seconds. */
  readonly seconds: number;
}

export interface LoadResult {
  /** The number of responses with a status under 400. */
  readonly responses: number;
  /** The number of responses with an error status, broken connections and missing responses. */
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

import { autocannonLoad } from './autocannon-load.ts';
import { findWrk } from './wrk-load.ts';

/** Requests to send, each with ids of its own, over keep-alive connections. */
export interface Load {
  readonly url: string;
  readonly path: string;
  readonly token: string;
  /** The body, cut where the ids go. */
  readonly pieces: readonly string[];
  readonly ids: Ids;
  readonly connections: number;
  /** A whole number. */
  readonly seconds: number;
}

/** Which ids a load uses: `first`, `first + 1` … as they are, or strewn over the whole table. */
export interface Ids {
  readonly first: number;
  readonly order: 'rising' | 'strewn';
}

export interface LoadResult {
  /** Replies with a status under 400. */
  readonly replies: number;
  /** Other replies, broken connections, replies that did not come. */
  readonly errors: number;
  /** How long it really took. */
  readonly seconds: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

export interface LoadGenerator {
  readonly name: string;
  run(load: Load): Promise<LoadResult>;
}

/** wrk where the machine has it: it leaves more of the machine to the server than a generator on Node. */
export async function findLoadGenerator(): Promise<LoadGenerator> {
  return (await findWrk()) ?? autocannonLoad;
}

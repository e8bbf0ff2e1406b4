import type { CitusAddresses } from '../postgres/start-citus.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The URL of the Postgres that the global setup `postgres.ts` has started. */
    postgresUrl: string;
    /** A data directory with an empty database, from `embedded.ts`. Tests copy the directory. */
    dataDirectory: string;
    /** The cluster that `citus.ts` has started, or undefined in other test runs. */
    citus: CitusAddresses | undefined;
  }
}

import type { CitusAddresses } from '../postgres/start-citus.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The URL of the Postgres that the global setup `postgres.ts` has started. */
    postgresUrl: string;
    /**
     * A data directory with an empty database, made by the global setup `embedded.ts`. Tests copy
     * it.
     */
    dataDirectory: string;
    /** The cluster that the global setup `citus.ts` has started. Undefined in other test runs. */
    citus: CitusAddresses | undefined;
  }
}

declare module 'vitest' {
  export interface ProvidedContext {
    /** The URL of the Postgres that the global setup `postgres.ts` has started. */
    postgresUrl: string;
    /** A data directory with an empty database, from `embedded.ts`. Tests copy the directory. */
    dataDirectory: string;
  }
}

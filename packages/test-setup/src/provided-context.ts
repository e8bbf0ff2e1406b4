declare module 'vitest' {
  export interface ProvidedContext {
    /** A database of the Postgres that `global-setup` has started. */
    postgresUrl: string;
    /** A data directory with an empty database in it, to be copied, where `embedded-setup` makes one. */
    dataDirectory: string;
  }
}

export type {};

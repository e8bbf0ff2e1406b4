declare module 'vitest' {
  export interface ProvidedContext {
    /** A database of the Postgres that `global-setup` has started. */
    postgresUrl: string;
  }
}

export type {};

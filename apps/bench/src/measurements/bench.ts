import type { PostgresDatabase } from '../database/bench-database.ts';
import type { BenchPostgres } from '../database/bench-postgres.ts';
import type { LoadGenerator } from '../load/load.ts';

/** The parts that all measurements of a run share. */
export interface Bench {
  readonly postgres: BenchPostgres;
  /** The database that most measurements share. */
  readonly database: PostgresDatabase;
  readonly generator: LoadGenerator;
  /** Allocates the ids of a load, and returns the number of the first id. */
  readonly allocateIds: () => number;
  /** Prints a line after each measurement. */
  readonly progress: (line: string) => void;
}

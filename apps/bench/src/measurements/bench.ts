import type { PostgresDatabase } from '../database/bench-database.ts';
import type { BenchPostgres } from '../database/bench-postgres.ts';
import type { LoadGenerator } from '../load/load.ts';

/** The parts that all measurements of a run share. */
export interface Bench {
  readonly postgres: BenchPostgres;
  /** The database that most measurements share. */
  readonly database: PostgresDatabase;
  readonly generator: LoadGenerator;
  /** Prints a line after each measurement. */
  readonly progress: (line: string) => void;
}

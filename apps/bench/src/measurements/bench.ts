import type { BenchDatabase } from '../database/bench-database.ts';
import type { BenchPostgres } from '../database/bench-postgres.ts';
import type { IdAllocator } from '../load/id-allocator.ts';
import type { LoadGenerator } from '../load/load.ts';

/** The parts that all measurements of a run share. */
export interface Bench {
  readonly postgres: BenchPostgres;
  /** The database of every measurement whose conditions name no other. */
  readonly database: BenchDatabase;
  readonly generator: LoadGenerator;
  readonly ids: IdAllocator;
  /** Prints a line after each measurement. */
  readonly progress: (line: string) => void;
}

import type { BenchDatabase } from '../database/bench-database.ts';
import type { IdOrder } from '../load/load.ts';
import type { PlantFields, RequestFormat } from '../load/request-format.ts';
import type { ProcessStats } from '../processes/process-stats.ts';

/** The conditions under which a contender is measured. */
export interface Conditions {
  readonly database?: BenchDatabase;
  readonly connections: number;
  /** Seconds of the same load before the measurement, at the most: see `warmUp`. */
  readonly warmUp: number;
  readonly seconds: number;
  readonly plant?: PlantFields;
  /** By default, ids of 19 digits, and small ones for a server that cannot take those. */
  readonly order?: IdOrder;
  /** The number of server processes; they share the connections equally. */
  readonly instances?: number;
  /** A second load at the same time. Its errors count; its times and replies do not. */
  readonly background?: { readonly format: RequestFormat; readonly connections: number };
  /** Calls `take` with the usage of the server's processes every `every` seconds of the load. */
  readonly sample?: { readonly every: number; readonly take: (stats: ProcessStats) => void };
}

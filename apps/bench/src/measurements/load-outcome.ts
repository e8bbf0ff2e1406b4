import type { IdOrder, LoadResult } from '../load/load.ts';
import type { ProcessStats } from '../processes/process-stats.ts';

/** The results of a warm-up and of the load after it. */
export interface LoadOutcome {
  readonly warmUps: readonly LoadResult[];
  readonly load: LoadResult;
  readonly idOrder: IdOrder;
  /** The usage of the server's processes during the load; pgbench has no server. */
  readonly usage?: ProcessStats | undefined;
  /** The CPU time of Postgres during the load; undefined on a machine without `/proc`. */
  readonly databaseCpuSeconds?: number | undefined;
}

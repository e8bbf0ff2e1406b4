import { defaultTimeout } from '../database/deadline.ts';
import { inCommit } from '../postgres/server-state.ts';

/**
 * A commit of the store that is not durable yet. The clients that wait for the commit have already received
 * error 50300.
 */
export interface LateCommit {
  /** The server's process id for the session. */
  readonly pid: number;
  readonly seconds: number;
  /**
   * The Postgres name of the event for which the commit waits. For example, `WalSync` means the disk, and
   * `SyncRep` means the standby.
   */
  readonly waitsFor: string;
}

export const selectLateCommits = `
  select pid, extract(epoch from clock_timestamp() - query_start)::int as seconds,
    wait_event as "waitsFor"
  from pg_stat_activity
  where application_name ~ '^plant-store' and datname = current_database() and ${inCommit}
    and clock_timestamp() - query_start > interval '${defaultTimeout} milliseconds'`;

import { tableOids } from '../tables/table-check.ts';

/** A session that has locked a whole table. Statements of the store wait for this lock. */
export interface Lock {
  readonly table: string;
  /** The server's process id for the session. */
  readonly pid: number;
  readonly user: string;
  readonly application: string;
}

/** Selects the sessions that have locked the tables against reads or writes. */
export const selectLocks = `
  select distinct relname as table, pg_locks.pid, coalesce(usename, '') as user,
    coalesce(application_name, '') as application
  from pg_locks
    join pg_class on pg_class.oid = relation
    left join pg_stat_activity on pg_stat_activity.pid = pg_locks.pid
  where relation in ${tableOids} and granted
    and database = (select oid from pg_database where datname = current_database())
    and mode in ('AccessExclusiveLock', 'ExclusiveLock', 'ShareRowExclusiveLock', 'ShareLock')
    and pg_locks.pid <> pg_backend_pid()`;

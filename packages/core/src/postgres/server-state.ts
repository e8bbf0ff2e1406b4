import { noTlsCode, readOnlyCode } from '../database/explain-database-error.ts';

/** The state that the store reads from a server before it uses the server. */
export interface ServerState {
  read_only: boolean;
  is_replica: boolean;
  pid: number;
  started_at: string;
  /** Milliseconds since 1970, by the server's clock. */
  now: string;
}

/** Reads the state. Behind a pooler, `pid` is not the process id of the connection. */
export const serverState = `
  select current_setting('transaction_read_only') = 'on' as read_only,
    pg_is_in_recovery() as is_replica,
    pg_backend_pid() as pid,
    (select backend_start::text from pg_stat_activity where pid = pg_backend_pid()) as started_at,
    (extract(epoch from clock_timestamp()) * 1000)::text as now`;

/**
 * Makes each commit of a session wait until the commit is durable on the server and on the synchronous
 * standby. The store changes the setting in the session, so that later changes of the server's settings have
 * no effect. The value `remote_apply` is not changed, because commits with this value wait even longer.
 */
export const commitDurably = `select set_config('synchronous_commit',
  case current_setting('synchronous_commit') when 'remote_apply' then 'remote_apply' else 'on' end, false)`;

/** The formats in which a session writes times. */
export const timeFormats = { TimeZone: 'UTC', DateStyle: 'ISO' };

/**
 * The settings that the store's statements rely on. A role, a database or a URL may have other values.
 *
 * When `row_security` is off, a policy causes an error instead of hiding rows. When `array_nulls` is off, a
 * missing tag would become the tag "NULL". Without warnings, a commit that the standby lacks would look like
 * any commit. In a stricter isolation level, concurrent writes of one id would fail.
 */
const neededSettings = {
  row_security: 'off',
  client_encoding: 'UTF8',
  array_nulls: 'on',
  bytea_output: 'hex',
  extra_float_digits: '1',
  client_min_messages: 'warning',
  default_transaction_isolation: 'read committed',
  ...timeFormats,
};

/** SQL that changes the settings of a session. */
export const setSession = `select ${Object.entries(neededSettings).map(
  ([name, value]) => `set_config('${name}', '${value}', false)`,
)}`;

/** Whether a session in `pg_stat_activity` is committing, and waits for the disk or the standby. */
export const inCommit = `state = 'active' and wait_event ~* '^(wal|syncrep)'`;

/** Finds a session by process id and start time if the session is committing. */
export const sessionCommits = `
  select 1 from pg_stat_activity where pid = $1 and backend_start::text = $2 and ${inCommit}`;

/** The error for a Postgres that accepts no writes. */
export function readOnlyError(server: string): Error {
  return Object.assign(new Error(`${server} is read-only`), { code: readOnlyCode });
}

/** The error for a Postgres without TLS. */
export function noTlsError(server: string): Error {
  return Object.assign(new Error(`${server} does not offer TLS`), { code: noTlsCode });
}

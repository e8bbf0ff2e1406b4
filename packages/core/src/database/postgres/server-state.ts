import { noTlsCode, readOnlyCode } from '../database-remedy.ts';

/** What the store must know of a server before it uses it. */
export interface ServerState {
  read_only: boolean;
  commits_asynchronously: boolean;
  pid: number;
}

/** Reads the state. Behind a pooler, `pid` differs from the process id that the connection received at its start. */
export const serverState = `
  select current_setting('transaction_read_only') = 'on' as read_only,
    current_setting('synchronous_commit') = 'off' as commits_asynchronously,
    pg_backend_pid() as pid`;

/** The error for a Postgres that accepts no writes. */
export function readOnlyError(server: string): Error {
  return Object.assign(new Error(`${server} is read-only`), { code: readOnlyCode });
}

/** The error for a Postgres without TLS. */
export function noTlsError(server: string): Error {
  return Object.assign(new Error(`${server} does not offer TLS`), { code: noTlsCode });
}

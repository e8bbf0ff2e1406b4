import type { DatabaseState, Lock, TableFault } from '@plant-store/core/operator';

/** What is wrong with the tables, and what to do. The migrations are a remedy for all of it. */
export function tableAdvice(state: DatabaseState): Omit<TableFault, 'table'>[] {
  const { tableFaults, isKnown, missingMigrations } = state;
  const isEmpty = state.rights.length === 0;
  if (tableFaults.length > 0 && missingMigrations > 0 && (isKnown || isEmpty)) {
    const what = isEmpty
      ? 'there are no tables yet'
      : `${missingMigrations} migrations are missing`;
    return [{ what, remedy: 'start the server, which applies the migrations' }];
  }
  return [...tableFaults];
}

/** Names the session that has locked a table, and what to do. */
export function lockAdvice({ table, pid, user, application }: Lock): string {
  const session = [`process ${pid}`, user && `user ${user}`, application].filter(Boolean);
  return (
    `the table ${table} is locked by another session (${session.join(', ')}): wait until it ends, ` +
    `or end it with SELECT pg_terminate_backend(${pid})`
  );
}

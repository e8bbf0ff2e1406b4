import type postgres from 'postgres';
import { noTransactionsCode } from '../database/explain-database-error.ts';
import { databaseCode } from '../error-causes.ts';

/**
 * Whether the pooler in front of the server keeps prepared statements. With a pooler that keeps prepared
 * statements, a prepared statement runs in any session of the server. In transaction mode, PgBouncer 1.21 or
 * newer keeps prepared statements if `max_prepared_statements` is above 0. PgBouncer prepares statements
 * under its own names. Other poolers use the client's names.
 */
export async function poolerKeepsStatements(client: postgres.Sql): Promise<boolean> {
  // All statements of a transaction run in one session of the server.
  await client.unsafe('begin').catch((error: unknown) => {
    // If the pooler sends an error and closes the connection, postgres.js 3.4 drops the pooler's error.
    throw databaseCode(error) === 'CONNECTION_CLOSED' ? noTransactionsError() : error;
  });
  const names = await client.unsafe<{ name: string }[]>(namesOf, [namesOf], { prepare: true });
  const ours = names.statement.name;
  const isKept = names.length > 0 && !names.some(({ name }) => name === ours);
  // The pooler may give the session to another client, and this client must not find our prepared statement.
  if (!isKept) await client.unsafe(`deallocate "${ours}"`);
  await client.unsafe('commit');
  return isKept;
}

function noTransactionsError(): Error {
  const message = 'it closed the connection at the begin of a transaction';
  return Object.assign(new Error(message), { code: noTransactionsCode });
}

export const poolerForgets =
  'the pooler in front of the database keeps no prepared statements. A PgBouncer older than 1.21 never ' +
  'does, and may lose its sessions after a pause (FATAL: bad client state): use 1.21 or newer. A newer ' +
  'one does with max_prepared_statements = 200, which saves CPU time of the database';

/** Selects the names under which the server's session has prepared a statement. */
const namesOf = 'select name from pg_prepared_statements where statement = $1';

/** Whether the error says that a statement is not prepared in the session, and was therefore not executed. */
export function isStatementLost(error: unknown): boolean {
  return databaseCode(error) === '26000';
}

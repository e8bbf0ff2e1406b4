import { type DatabaseOptions, PlantStoreError } from '@plant-store/core';
import {
  type DatabaseState,
  explainDatabaseError,
  inspectDatabase,
  type Lock,
  missingGrants,
  type Privilege,
  type TableFault,
} from '@plant-store/core/operator';
import { CommandError, usageError } from './errors.ts';

/** The SQLSTATE of a statement that waited too long for a lock. */
const lockTimeout = '55P03';

/** The privileges that a command needs on each table. */
export type Needs = Readonly<Record<string, readonly Privilege[]>>;

interface Context {
  settings: DatabaseOptions;
  needs: Needs;
}

/**
 * Makes an error that explains a wrong argument or a fault of the database, and says what to do. Inspects the
 * database if a table or a privilege may be the cause. Returns errors of other kinds unchanged.
 */
export async function toCommandError(error: unknown, context: Context): Promise<unknown> {
  if (!(error instanceof PlantStoreError)) return error;
  if (error.kind === 'invalidInput') return usageError(error.message);
  if (error.kind !== 'databaseUnavailable' && error.databaseCode === undefined) return error;
  const message = (await explainTables(error, context)) ?? explainDatabaseError(error);
  return new CommandError(message, { cause: error });
}

async function explainTables(
  error: PlantStoreError,
  { settings, needs }: Context,
): Promise<string | undefined> {
  const isLocked = error.databaseCode === lockTimeout;
  if (!isLocked && !/^42/.test(error.databaseCode ?? '')) return undefined;
  // If the inspection fails, the user sees the original error.
  const state = await inspectDatabase(settings).catch(() => undefined);
  const causes = isLocked ? state?.locks.map(lockAdvice) : state && causesIn(state, needs);
  return causes?.length ? `${causes.join('; ')} (${error.reason})` : undefined;
}

function causesIn(state: DatabaseState, needs: Needs): string[] {
  const grants = missingGrants(state.privileges, needs);
  if (grants.length > 0) return [`a privilege is missing: run ${grants.join('; ')}`];
  return tableAdvice(state).map(({ what, remedy }) => `${what}: ${remedy}`);
}

/** Names the faults of the tables and the remedies. If migrations are missing, names only this fault. */
export function tableAdvice(state: DatabaseState): Omit<TableFault, 'table'>[] {
  const { tableFaults, isKnown, missingMigrations } = state;
  const isEmpty = state.privileges.length === 0;
  if (tableFaults.length > 0 && missingMigrations > 0 && (isKnown || isEmpty)) {
    const what = isEmpty
      ? 'there are no tables yet'
      : `${missingMigrations} migrations are missing`;
    return [{ what, remedy: 'start the server, which applies the migrations' }];
  }
  return [...tableFaults];
}

/** Names the session that has locked a table, and says what to do. */
export function lockAdvice({ table, pid, user, application }: Lock): string {
  const session = [`process ${pid}`, user && `user ${user}`, application].filter(Boolean);
  return (
    `the table ${table} is locked by another session (${session.join(', ')}): wait until it ends, ` +
    `or end it with SELECT pg_terminate_backend(${pid})`
  );
}

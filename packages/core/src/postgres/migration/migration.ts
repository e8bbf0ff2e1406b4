import { renewFeed } from '../../changes/epoch/epoch.ts';
import type { DatabaseConnection } from '../../database/database.ts';
import { defaultTimeout, withTimeout } from '../../database/deadline.ts';
import { DatabaseSettingsError, readOnlyCode } from '../../database/explain-database-error.ts';
import { type Query, send } from '../../database/query.ts';
import { databaseCode } from '../../error-causes.ts';
import { buildIndexes, lockTimeout } from '../../tables/indexes.ts';
import {
  applyMigrations,
  migrationTimeout,
  readSchemaVersion,
} from '../../tables/schema-version.ts';

/** The key of the advisory lock. */
const migrationLock = 0x706c616e7473; // "plants"

/** The SQLSTATE for a missing privilege. */
const insufficientPrivilege = '42501';

/** The SQLSTATE for a `search_path` without a schema that exists and that the user may use. */
const noSchema = '3F000';

/**
 * Applies the missing migrations in one transaction, on a separate connection. The transaction holds an
 * advisory lock, so that only one instance migrates at a time.
 *
 * When no migration is missing, this function creates nothing. A user without the privilege to create tables
 * can therefore use a database that another user has migrated.
 *
 * @param connect opens a connection whose statements may take as long as `migrationTimeout`.
 */
export async function migratePostgres(connect: () => Promise<DatabaseConnection>): Promise<void> {
  const connection = await connect();
  try {
    const query: Query = (...statement) =>
      withTimeout(connection.query(...statement), defaultTimeout);
    if (await isMigrated(query)) return await tryToRenewFeed(connection);
    await migrate(connection).catch(async (error) => {
      throw [insufficientPrivilege, noSchema].includes(databaseCode(error) ?? '')
        ? await privilegesError(query, error)
        : error;
    });
  } finally {
    await connection.close();
  }
}

/** Makes an error that names the user's missing privileges for the migrations. */
async function privilegesError(query: Query, cause: unknown): Promise<DatabaseSettingsError> {
  await send(query, 'rollback');
  const { missingCreateGrants } = await import('../../tables/privileges.ts');
  const grants = await missingCreateGrants(query);
  const otherRemedy =
    databaseCode(cause) === noSchema
      ? "let its user's search_path name an existing schema, such as public"
      : 'its tables are of an earlier version, so start the server once as their owner';
  const remedy =
    grants.length > 0
      ? `grant its user the privilege to create tables there (${grants.join('; ')}), or start the server ` +
        'once as a user that has it'
      : otherRemedy;
  return new DatabaseSettingsError(remedy, cause);
}

async function isMigrated(query: Query): Promise<boolean> {
  const { isKnown, missingMigrations } = await readSchemaVersion(query);
  if (isKnown) return missingMigrations === 0;
  // A user without privileges on the list of migrations can still check whether the tables are correct.
  const { checkTables } = await import('../../tables/table-check.ts');
  return (await checkTables(query)).every(({ canStart }) => canStart);
}

/**
 * Starts the feed again if the database was restored from a dump. Only the owner of the tables can draw a new
 * epoch. If the user is not the owner, `doctor` warns.
 */
async function tryToRenewFeed({ query }: DatabaseConnection): Promise<void> {
  await withTimeout(renewFeed(query), migrationTimeout).catch((error) => {
    if (![insufficientPrivilege, readOnlyCode].includes(databaseCode(error) ?? '')) throw error;
  });
}

async function migrate(connection: DatabaseConnection): Promise<void> {
  await withTimeout(buildIndexes(connection.query), migrationTimeout);
  const run = (text: string, timeout = defaultTimeout) =>
    withTimeout(connection.query(text, [], 'objects'), timeout);
  await run('begin');
  await run(`set local lock_timeout = ${lockTimeout}`);
  await run(`select pg_advisory_xact_lock(${migrationLock})`);
  await applyMigrations(run);
  await run('commit');
}

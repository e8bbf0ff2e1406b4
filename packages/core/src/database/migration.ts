import { fileURLToPath } from 'node:url';
import { getTableConfig } from 'drizzle-orm/pg-core';
import { drizzle } from 'drizzle-orm/pg-proxy';
import { migrate as applyMigrations } from 'drizzle-orm/pg-proxy/migrator';
import { beginFeed, forgetForeignDeletions } from '../changes/statements.ts';
import { databaseCode, rootMessage } from '../plant-store-error.ts';
import type { Query } from './database.ts';
import { DatabaseSettingsError } from './errors.ts';
import * as tables from './tables.ts';

/** The folder of the generated SQL. In `src` and in `dist`, this file has the same depth. */
const migrationsFolder = fileURLToPath(new URL('../../drizzle', import.meta.url));

/** The key of the advisory lock. */
const migrationLock = 0x706c616e7473; // "plants"

/**
 * Applies the missing migrations in one transaction. An advisory lock lets one instance migrate at a time. A
 * user without the privilege to migrate can use tables that another user has created.
 *
 * @throws DatabaseSettingsError when the tables are of another version, or a privilege is missing
 */
export async function migrate(query: Query): Promise<void> {
  try {
    await query('begin');
    await query(`select pg_advisory_xact_lock(${migrationLock})`);
    await applyMigrations(
      drizzle(async (text) => ({ rows: await query(text) })),
      async (statements) => {
        for (const statement of statements) await query(statement);
      },
      { migrationsFolder },
    );
    await query(beginFeed);
    await query(forgetForeignDeletions);
    await query('commit');
  } catch (error) {
    await query('rollback').catch(() => {});
    if (['42P07', '42701', '42703'].includes(databaseCode(error) ?? '')) throw otherVersion(error);
    if (!isForbidden(error)) throw error;
    const missing = await missingColumns(query);
    if (missing.length > 0) throw privilegeError(missing, error);
  }
}

const otherVersion = (cause: unknown) =>
  new DatabaseSettingsError(
    'its tables are of a version that this version cannot open: use an empty database',
    cause,
  );

/** A missing privilege, a `search_path` without a usable schema, or a database that accepts no writes. */
const isForbidden = (error: unknown) =>
  ['42501', '3F000', '25006'].includes(databaseCode(error) ?? '');

function privilegeError(missing: readonly string[], cause: unknown): Error {
  if (databaseCode(cause) === '25006') return new Error(rootMessage(cause), { cause });
  return new DatabaseSettingsError(
    `it lacks ${missing.slice(0, 3).join(', ')}: start the server once as a user who may create tables there ` +
      '(GRANT CREATE ON DATABASE … and GRANT USAGE, CREATE ON SCHEMA …)',
    cause,
  );
}

/** Returns the names of the columns that the store needs and the database lacks. */
export async function missingColumns(query: Query): Promise<string[]> {
  const columns = [
    ...[tables.plants, tables.plantDeletions, tables.plantFeed],
    ...[tables.accessTokens, tables.webhooks],
  ].flatMap((table) => {
    const { name, columns } = getTableConfig(table);
    return columns.map((column) => ({ table: name, column: column.name }));
  });
  const rows = await query<{ name: string }>(
    `select needed.table || '.' || needed.column as name
     from json_to_recordset($1::text::json) as needed ("table" text, "column" text)
     where not exists (select from pg_attribute
       where attrelid = to_regclass(needed.table) and attname = needed.column and not attisdropped)`,
    [JSON.stringify(columns)],
  );
  return rows.map(({ name }) => name);
}

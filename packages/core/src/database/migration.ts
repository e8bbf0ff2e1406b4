import { fileURLToPath } from 'node:url';
import { beginFeed, forgetForeignDeletions } from '../changes/statements.ts';
import { databaseCode } from '../plant-store-error.ts';
import type { Query } from './database.ts';
import { migrator, orm, pgProxy } from './drizzle.ts';
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
    await migrator.migrate(
      pgProxy.drizzle(async (text) => ({ rows: await query(text) })),
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
    const code = databaseCode(error) ?? '';
    if (['42P07', '42701', '42703'].includes(code))
      throw new DatabaseSettingsError(otherVersion, error);
    // A privilege is missing, `search_path` names no usable schema, or the database accepts no writes.
    if (!['42501', '3F000', '25006'].includes(code)) throw error;
    const [missing] = await missingTables(query);
    if (missing === undefined) return;
    if (code === '25006') throw error;
    throw new DatabaseSettingsError(`it has no table ${missing}: ${noTable}`, error);
  }
}

const otherVersion =
  'its tables are of a version that this version cannot open: use an empty database';
const noTable =
  'start the server once as a user who may create tables there ' +
  '(GRANT CREATE ON DATABASE … and GRANT USAGE, CREATE ON SCHEMA …)';

/** Returns the names of the tables that the store needs and the database lacks. */
export async function missingTables(query: Query): Promise<string[]> {
  const names = Object.values(tables).map((table) => orm.getTableName(table));
  const rows = await query<{ name: string }>(
    'select name from unnest($1::text[]) as name where to_regclass(name) is null',
    [`{${names}}`],
  );
  return rows.map(({ name }) => name);
}

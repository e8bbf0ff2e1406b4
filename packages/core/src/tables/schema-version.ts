import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Query, type Rows, send } from '../database/query.ts';

/** The folder of the generated SQL migrations. In `src` and in `dist`, this file has the same depth. */
export const migrationsFolder = fileURLToPath(new URL('../../drizzle', import.meta.url));

/** The time limit for a statement of a migration, in milliseconds. A statement may rewrite a large table. */
export const migrationTimeout = 60 * 60_000;

/**
 * Applies the missing migrations. The caller begins and commits the transaction.
 *
 * @param run runs a statement, and returns its rows as objects. `timeout` is the time limit of a statement
 *   that changes tables, in milliseconds.
 */
export async function applyMigrations(
  run: (text: string, timeout?: number) => Promise<Rows>,
): Promise<void> {
  const [{ drizzle }, { migrate }] = await Promise.all([
    import('drizzle-orm/pg-proxy'),
    import('drizzle-orm/pg-proxy/migrator'),
  ]);
  const runAll = async (statements: string[]) => {
    for (const statement of statements) await run(statement, migrationTimeout);
  };
  await migrate(
    drizzle((text) => run(text)),
    runAll,
    { migrationsFolder },
  );
}

/** The state of the migrations of a database. */
export interface SchemaVersion {
  /** Whether the database has a list of its migrations, and the user may read this list. */
  readonly isKnown: boolean;
  /** The number of migrations that this version of the store has and the database lacks. */
  readonly missingMigrations: number;
  /** Whether a later version of the store has migrated the database. */
  readonly isNewer: boolean;
}

/** Reads which migrations a database has. This function needs no privileges and no tables. */
export async function readSchemaVersion(query: Query): Promise<SchemaVersion> {
  const known = await knownMigrations();
  const [list] = await send<{ is_readable: boolean }>(query, canReadList);
  const isKnown = list?.is_readable === true;
  const last = isKnown ? await lastMigration(query) : 0;
  return {
    isKnown,
    missingMigrations: known.filter((when) => when > last).length,
    isNewer: last > Math.max(...known),
  };
}

/** Returns the times of this version's migrations. Drizzle identifies a migration by its time. */
async function knownMigrations(): Promise<number[]> {
  const text = await readFile(join(migrationsFolder, 'meta', '_journal.json'), 'utf8');
  const { entries }: { entries: { when: number }[] } = JSON.parse(text);
  return entries.map(({ when }) => when);
}

async function lastMigration(query: Query): Promise<number> {
  const selectLast = 'select max(created_at)::float8 as last from drizzle.__drizzle_migrations';
  const [row] = await send<{ last: number | null }>(query, selectLast);
  return row?.last ?? 0;
}

// Every user may read the system catalogs. `to_regclass` needs a privilege on the schema.
const canReadList = `
  select exists (
    select from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where nspname = 'drizzle' and relname = '__drizzle_migrations'
      and has_schema_privilege(pg_namespace.oid, 'usage')
      and has_table_privilege(pg_class.oid, 'select')) as is_readable`;

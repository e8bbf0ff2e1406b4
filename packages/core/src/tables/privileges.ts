import type { Query } from '../database/database.ts';
import { tableNames } from './table-check.ts';

/** The name of a privilege on a table, as in a GRANT statement. */
export type Privilege = 'SELECT' | 'INSERT' | 'UPDATE' | 'DELETE';

/** The privileges that the server needs. Most commands need fewer privileges. */
export const serverNeeds: Readonly<Record<string, readonly Privilege[]>> = {
  plants: ['SELECT', 'INSERT', 'DELETE'],
  plant_deletions: ['SELECT', 'INSERT', 'DELETE'],
  plant_feed: ['SELECT', 'UPDATE'],
  access_tokens: ['SELECT', 'INSERT', 'UPDATE'],
  webhooks: ['SELECT', 'UPDATE'],
};

/** The privileges of the current user on a table. */
export interface TablePrivileges {
  readonly table: string;
  readonly privileges: readonly Privilege[];
  /** The table's schema if the user may not use the schema; otherwise null. */
  readonly closedSchema: string | null;
  /** The name of the user as an SQL identifier. */
  readonly user: string;
}

/** Reads the current user's privileges on the existing tables. */
export async function readPrivileges(query: Query): Promise<TablePrivileges[]> {
  type Row = Omit<TablePrivileges, 'privileges'> & { readonly privileges: string };
  const rows = await query<Row>(selectPrivileges);
  return rows.map(({ privileges, ...row }) => ({
    ...row,
    privileges: privileges.split(' ').filter(Boolean) as Privilege[],
  })); // The cast is safe, because the statement selects only names of privileges.
}

/** Returns GRANT statements for the privileges that the user lacks. */
export function missingGrants(
  actual: readonly TablePrivileges[],
  needed: Readonly<Record<string, readonly Privilege[]>>,
): string[] {
  const grants = actual.flatMap(({ table, privileges, closedSchema, user }) => {
    const missing = needed[table]?.filter((privilege) => !privileges.includes(privilege)) ?? [];
    if (!needed[table]) return [];
    return [
      ...(closedSchema === null ? [] : [`GRANT USAGE ON SCHEMA ${closedSchema} TO ${user}`]),
      ...(missing.length === 0 ? [] : [`GRANT ${missing.join(', ')} ON ${table} TO ${user}`]),
    ];
  });
  return [...new Set(grants)];
}

// The user may have privileges on columns, and no privilege on the table. This query treats a privilege on
// one column as a privilege on all columns.
const selectPrivileges = `
  select relname as table, quote_ident(current_user) as user,
    case when not has_schema_privilege(pg_namespace.oid, 'usage') then quote_ident(nspname) end
      as "closedSchema",
    concat_ws(' ',
      case when has_any_column_privilege(pg_class.oid, 'select') then 'SELECT' end,
      case when has_any_column_privilege(pg_class.oid, 'insert') then 'INSERT' end,
      case when has_any_column_privilege(pg_class.oid, 'update') then 'UPDATE' end,
      case when has_table_privilege(pg_class.oid, 'delete') then 'DELETE' end) as privileges
  from pg_class join pg_namespace on pg_namespace.oid = relnamespace
  where relname in ${tableNames} and relkind in ('r', 'p')
    and nspname = any (string_to_array(replace(replace(
      current_setting('search_path'), '"$user"', current_user), ' ', ''), ','))
  order by relname desc`;

/** Returns GRANT statements for the missing privileges that the creation of the tables needs. */
export async function missingCreateGrants(query: Query): Promise<string[]> {
  const [row] = await query<CreatePrivilegesRow>(selectCreatePrivileges);
  if (!row) return [];
  const { user, database, schema, privileges } = row;
  return [
    ...(database === null ? [] : [`GRANT CREATE ON DATABASE ${database} TO ${user}`]),
    ...(privileges === '' ? [] : [`GRANT ${privileges} ON SCHEMA ${schema} TO ${user}`]),
  ];
}

interface CreatePrivilegesRow {
  user: string;
  /** The name of the database if the user may not create schemas in the database; otherwise null. */
  database: string | null;
  schema: string;
  /** The privileges on the schema that the user lacks, for GRANT. */
  privileges: string;
}

// Without USAGE on a schema, `current_schema()` skips this schema.
const selectCreatePrivileges = `
  select quote_ident(current_user) as user, schema,
    case when not has_database_privilege(current_database(), 'create')
      then quote_ident(current_database()) end as database,
    concat_ws(', ',
      case when not has_schema_privilege(to_regnamespace(schema), 'create') then 'CREATE' end,
      case when not has_schema_privilege(to_regnamespace(schema), 'usage') then 'USAGE' end) as privileges
  from (select quote_ident(coalesce(current_schema(), 'public')) as schema) as target`;

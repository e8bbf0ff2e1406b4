import type { RunText } from '../schema-version.ts';

/** A right on a table, as GRANT names it. */
export type Right = 'SELECT' | 'INSERT' | 'UPDATE' | 'DELETE';

/** What the user of a database may do with a table. */
export interface TableRights {
  readonly table: string;
  readonly rights: readonly Right[];
  /** The table's schema, when the user may not use it. Then the rights have no effect. */
  readonly closedSchema: string | null;
  /** The user, as an identifier in SQL. */
  readonly user: string;
}

/** Reads what the user may do with the tables that exist. */
export async function readRights(run: RunText): Promise<TableRights[]> {
  const rows = (await run(selectRights)) as RightsRow[]; // The columns of this statement.
  return rows.map(({ rights, ...row }) => ({
    ...row,
    rights: rights.split(' ').filter(Boolean) as Right[],
  })); // Of the statement's own names.
}

interface RightsRow {
  table: string;
  rights: string;
  closedSchema: string | null;
  user: string;
}

/** The statements that give a user the rights that it lacks. */
export function missingGrants(
  actual: readonly TableRights[],
  needed: Readonly<Record<string, readonly Right[]>>,
): string[] {
  const grants = actual.flatMap(({ table, rights, closedSchema, user }) => {
    const missing = needed[table]?.filter((right) => !rights.includes(right)) ?? [];
    if (!needed[table]) return [];
    return [
      ...(closedSchema === null ? [] : [`GRANT USAGE ON SCHEMA ${closedSchema} TO ${user}`]),
      ...(missing.length === 0 ? [] : [`GRANT ${missing.join(', ')} ON ${table} TO ${user}`]),
    ];
  });
  return [...new Set(grants)];
}

// A right on each column that the store uses is enough, so a right on any column counts.
const selectRights = `
  select relname as table, quote_ident(current_user) as user,
    case when not has_schema_privilege(pg_namespace.oid, 'usage') then quote_ident(nspname) end
      as "closedSchema",
    concat_ws(' ',
      case when has_any_column_privilege(pg_class.oid, 'select') then 'SELECT' end,
      case when has_any_column_privilege(pg_class.oid, 'insert') then 'INSERT' end,
      case when has_any_column_privilege(pg_class.oid, 'update') then 'UPDATE' end,
      case when has_table_privilege(pg_class.oid, 'delete') then 'DELETE' end) as rights
  from pg_class join pg_namespace on pg_namespace.oid = relnamespace
  where relname in ('plants', 'access_tokens') and relkind in ('r', 'p')
    and nspname = any (string_to_array(replace(replace(
      current_setting('search_path'), '"$user"', current_user), ' ', ''), ','))
  order by relname desc`;

/** The statements that give a user the rights to create the tables. */
export async function missingCreateGrants(run: RunText): Promise<string[]> {
  const [row] = (await run(selectCreateRights)) as [CreateRightsRow]; // One row, of these columns.
  const { user, database, schema } = row;
  return [
    ...(database === null ? [] : [`GRANT CREATE ON DATABASE ${database} TO ${user}`]),
    ...(schema === null ? [] : [`GRANT CREATE ON SCHEMA ${schema} TO ${user}`]),
  ];
}

interface CreateRightsRow {
  user: string;
  /** The name of the database, when the right is missing there. */
  database: string | null;
  schema: string | null;
}

const selectCreateRights = `
  select quote_ident(current_user) as user,
    case when not has_database_privilege(current_database(), 'create')
      then quote_ident(current_database()) end as database,
    case when not has_schema_privilege(coalesce(current_schema(), 'public'), 'create')
      then quote_ident(coalesce(current_schema(), 'public')) end as schema`;

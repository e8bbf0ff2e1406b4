import { getTableConfig } from 'drizzle-orm/pg-core';
import type { Query } from '../database/database.ts';
import {
  accessTokens,
  plantDeletions,
  plantFeed,
  plants,
  thisTransaction,
  webhooks,
} from './tables.ts';

const tables = [plants, plantDeletions, plantFeed, accessTokens, webhooks].map((table) =>
  getTableConfig(table),
);

/** The names of the tables as an SQL list. */
export const tableNames = `(${tables.map(({ name }) => `'${name}'`).join(', ')})`;

/** The oids of the existing tables as an SQL list. */
export const tableOids = `(${tables.map(({ name }) => `to_regclass('${name}')`).join(', ')})`;

/** A difference between a table and the table that this version of the store needs. */
export interface TableFault {
  readonly table: string;
  readonly what: string;
  readonly remedy: string;
  /** Whether the store can start in spite of the fault. */
  readonly canStart?: boolean;
}

/** Compares the tables of a database with the tables that this version of the store needs. */
export async function checkTables(query: Query): Promise<TableFault[]> {
  const columns = await query<ColumnRow>(selectColumns);
  return tables.flatMap(({ name, columns: needed }) => {
    const actual = columns.filter((column) => column.table === name);
    if (actual.length === 0) {
      return {
        table: name,
        what: `the table ${name} is missing`,
        remedy: 'restore it from a backup',
      };
    }
    const names = needed.map((column) => column.name);
    return [
      ...needed.flatMap((column) => {
        const found = actual.find((each) => each.column === column.name);
        return columnFaults(name, { ...column, type: column.getSQLType() }, found);
      }),
      ...actual.filter(({ column }) => !names.includes(column)).flatMap(unknownColumnFaults),
    ];
  });
}

interface ColumnRow {
  table: string;
  column: string;
  type: string;
  is_required: boolean;
  has_default: boolean;
  /** Whether the default is `thisTransaction`, which makes commits durable. Null without a default. */
  is_durable: boolean | null;
  is_key: boolean;
}

interface NeededColumn {
  name: string;
  type: string;
  primary: boolean;
  hasDefault: boolean;
}

function columnFaults(
  table: string,
  { name, type, primary, hasDefault }: NeededColumn,
  found: ColumnRow | undefined,
): TableFault[] {
  if (!found) {
    const what = `the table ${table} has no column ${name}`;
    return [{ table, what, remedy: 'rename it back, or restore the table from a backup' }];
  }
  const column = `${table}.${name}`;
  const alter = `ALTER TABLE ${table}`;
  const faults: TableFault[] = [];
  if (found.type !== type) {
    const what = `the column ${column} has the type ${found.type} and not ${type}`;
    faults.push({
      table,
      what,
      remedy: `run ${alter} ALTER COLUMN ${name} TYPE ${type} USING ${name}::${type}`,
    });
  }
  if (primary && !found.is_key) {
    const what = `the column ${column} is not the primary key`;
    faults.push({ table, what, remedy: `run ${alter} ADD PRIMARY KEY (${name})` });
  }
  if (name === 'created_at' && hasDefault && !found.has_default) {
    const what = `the column ${column} has no default`;
    faults.push({ table, what, remedy: `run ${alter} ALTER COLUMN ${name} SET DEFAULT now()` });
  }
  if (name === 'changed_in' && found.is_durable === false) {
    const what =
      `the column ${column} has the default of an earlier version, so the feed may show changes that a ` +
      'crash of the database undoes';
    const durable = thisTransaction.replaceAll(/\s+/g, ' ');
    faults.push({
      table,
      what,
      remedy: `run ${alter} ALTER COLUMN ${name} SET DEFAULT ${durable}`,
      canStart: true,
    });
  }
  return faults;
}

/** A column that the store does not know is a fault if the column needs a value and has no default. */
function unknownColumnFaults(column: ColumnRow): TableFault[] {
  if (!column.is_required || column.has_default) return [];
  const what = `the column ${column.table}.${column.column} needs a value, and the store has none`;
  const remedy = `run ALTER TABLE ${column.table} ALTER COLUMN ${column.column} DROP NOT NULL`;
  return [{ table: column.table, what, remedy }];
}

// Reads the system catalogs. `information_schema` hides tables on which the user has no privileges, and
// `pg_get_expr` waits for the locks on a table.
const selectColumns = `
  select relname as table, attname as column, format_type(atttypid, atttypmod) as type,
    attnotnull as is_required,
    atthasdef or attidentity <> '' as has_default,
    (select adbin::text like '%:funcid ' || 'pg_catalog.set_config'::regproc::oid || ' %'
      from pg_attrdef where adrelid = attrelid and adnum = attnum) as is_durable,
    exists (
      select from pg_index
      where indrelid = pg_class.oid and indisprimary and indkey::text = attnum::text) as is_key
  from pg_attribute join pg_class on pg_class.oid = attrelid
  where attrelid in ${tableOids}
    and attnum > 0 and not attisdropped`;

import { indexes } from '../tables/indexes.ts';
import { tableOids } from '../tables/table-check.ts';
import type { Question } from './hazard.ts';

const reject = 'may reject plants, and their creates get 50001';
const slow = 'only grows, and its requests slow down';

/**
 * The indexes that the tables of plants and of deletions should have. The index of the feed has its own
 * check.
 */
const neededIndexes = [
  { table: 'plants', name: 'plants_tag', columns: indexes.plants_tag },
  { table: 'plant_deletions', name: 'plant_deletions_id', columns: '(id, changed_in)' },
];

/** Finds harmful changes to the tables. */
export const tableQuestions: readonly Question[] = [
  {
    check: 'durability',
    level: 'problem',
    select: `
      select relname::text as name, null as value from pg_class
      where oid in ${tableOids} and relpersistence = 'u'`,
    describe: ({ name }) =>
      `the table ${name} is UNLOGGED, so a crash of the database empties it: run ALTER TABLE ${name} SET LOGGED`,
  },
  {
    check: 'tables',
    level: 'warning',
    select: `
      select quote_ident(conname) as name, null as value from pg_constraint
      where conrelid = to_regclass('plants') and contype in ('c', 'f', 'u', 'x')`,
    describe: ({ name }) =>
      `the constraint ${name} ${reject}: unless you want that, run ALTER TABLE plants DROP CONSTRAINT ${name}`,
  },
  {
    check: 'tables',
    level: 'warning',
    select: `
      select indexrelid::regclass::text as name, null as value from pg_index
      where indrelid = to_regclass('plants') and indisunique and not indisprimary
        and not exists (select from pg_constraint where conindid = indexrelid)`,
    describe: ({ name }) =>
      `the unique index ${name} ${reject}: unless you want that, run DROP INDEX ${name}`,
  },
  {
    check: 'tables',
    level: 'warning',
    // Bits of `tgtype`: 2 means BEFORE, 4 means INSERT, and 8 means DELETE.
    select: `
      select quote_ident(tgname) as name, null as value from pg_trigger
      where tgrelid = to_regclass('plants') and not tgisinternal and tgenabled in ('A', 'O')
        and tgname <> 'plant_store_number'
        and tgtype & 2 > 0 and tgtype & 12 > 0`,
    describe: ({ name }) =>
      `the trigger ${name} may change, reject or keep plants: make sure that it returns each row as it is, ` +
      `or run DROP TRIGGER ${name} ON plants`,
  },
  {
    check: 'indexes',
    level: 'warning',
    select: `
      select name, relation || ' ' || columns as value
      from (values ${neededIndexes.map(({ table, name, columns }) => `('${table}', '${name}', '${columns}')`)})
        as needed (relation, name, columns)
      where to_regclass(relation) is not null and to_regclass(name) is null`,
    describe: ({ name, value }) =>
      `the index ${name} is missing, so some requests read a whole table: run CREATE INDEX CONCURRENTLY ` +
      `${name} ON ${value}`,
  },
  {
    check: 'indexes',
    level: 'warning',
    select: `
      select indexrelid::regclass::text as name, null as value from pg_index
      where indrelid in ${tableOids} and not (indisvalid and indisready)`,
    describe: ({ name }) =>
      `the index ${name} is invalid, so the database does not use it: unless somebody builds it now, run ` +
      `REINDEX INDEX CONCURRENTLY ${name}`,
  },
  {
    check: 'vacuum',
    level: 'warning',
    select: `
      select name, null as value from pg_settings
      where name in ('autovacuum', 'track_counts') and setting = 'off'`,
    describe: ({ name }) => `${name} is off, so each table ${slow}: set ${name} = on`,
  },
  {
    check: 'vacuum',
    level: 'warning',
    select: `
      select relname::text as name, null as value from pg_class
      where oid in ${tableOids} and exists (
        select from pg_options_to_table(reloptions)
        where option_name = 'autovacuum_enabled' and not option_value::boolean)`,
    describe: ({ name }) =>
      `autovacuum is off for ${name}, so the table ${slow}: run ALTER TABLE ${name} RESET (autovacuum_enabled)`,
  },
];

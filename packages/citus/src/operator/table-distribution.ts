import { createConnectToPrimary, send, tableOids } from '@plant-store/core/cluster';

/** How Citus distributes a table over its nodes. */
export interface TableDistribution {
  readonly table: string;
  /**
   * With `hash`, a column distributes the rows; with `reference`, each node has a copy; with `local`, only
   * the coordinator has the table.
   */
  readonly kind: 'hash' | 'reference' | 'local' | 'other';
  /** The column by which the table is distributed. Null when the table has no such column. */
  readonly column: string | null;
  readonly shards: number;
}

/** Reads how Citus distributes the tables of the store. Returns an empty list when Citus is not installed. */
export async function inspectDistribution(databaseUrl: string): Promise<TableDistribution[]> {
  const connection = await createConnectToPrimary(databaseUrl, { readOnly: true })();
  try {
    const { rows } = await connection.query(`select to_regclass('pg_dist_partition')::text`);
    if ((rows as [[string | null]])[0][0] === null) return [];
    return await send(connection.query, selectDistribution);
  } finally {
    await connection.close();
  }
}

// `partkey` is an expression tree that contains the number of the column. A reference table has no `partkey`.
const selectDistribution = `
  select relname as table,
    case when partmethod = 'h' then 'hash'
      when partmethod = 'n' and repmodel = 't' then 'reference'
      when partmethod is null or partmethod = 'n' then 'local'
      else 'other' end as kind,
    attname as column,
    (select count(*)::int from pg_dist_shard where pg_dist_shard.logicalrelid = pg_class.oid) as shards
  from pg_class
    left join pg_dist_partition on pg_dist_partition.logicalrelid = pg_class.oid
    left join pg_attribute on attrelid = pg_class.oid
      and attnum = substring(partkey from ':varattno (\\d+)')::int
  where pg_class.oid in ${tableOids}`;

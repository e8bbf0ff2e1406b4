import { arrayText } from '../../database/cluster/array-text.ts';
import { callInsertFunction, shardMoved } from '../../database/cluster/insert-function.ts';
import type { ShardWatch } from '../../database/cluster/watch-shards.ts';
import type { Database } from '../../database/database.ts';
import { databaseCode } from '../../error-causes.ts';
import { createPlantTable, type PlantTable } from './plant-table.ts';

/**
 * The statements that create plants of one node of a cluster. Each insert is a call of one function,
 * which runs on that node. When the plants belong to another node by now, it is an ordinary INSERT,
 * which Citus sends wherever the plants belong.
 */
export function createNodeTable(
  database: Pick<Database, 'db' | 'query'>,
  shards: ShardWatch,
): PlantTable {
  const table = createPlantTable(database);

  return {
    ...table,
    async insert(batch) {
      const map = shards.current;
      const [first] = batch;
      if (!map || !first) return table.insert(batch);
      const shardIds = new Set(batch.map(({ id }) => map.shardOf(id).id));
      try {
        const { rows } = await database.query(callInsertFunction, [
          String(first.id),
          `{${[...shardIds]}}`,
          `{${batch.map(({ id }) => id)}}`,
          arrayText(batch.map(({ name }) => name)),
          arrayText(batch.map(({ tag }) => tag)),
        ]);
        if (rows.length === batch.length) return new Set(batch.map(({ id }) => id));
        return new Set(rows.map((row) => BigInt((row as [string])[0]))); // The ids.
      } catch (error) {
        if (!needsOrdinaryInsert.has(databaseCode(error) ?? '')) throw error;
        void shards.refresh();
        return table.insert(batch);
      }
    },
  };
}

/** The SQLSTATEs of plants that have moved, and of a function that is gone or may not be called. */
const needsOrdinaryInsert = new Set([shardMoved, '42883', '42501']);

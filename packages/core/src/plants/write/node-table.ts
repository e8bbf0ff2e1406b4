import { shardMoved } from '../../database/cluster/insert-function.ts';
import { insertOnNode } from '../../database/cluster/insert-on-node.ts';
import type { ShardWatch } from '../../database/cluster/watch-shards.ts';
import type { NodeAccess } from '../../database/database.ts';
import { databaseCode } from '../../error-causes.ts';
import { createPlantTable, type PlantTable } from './plant-table.ts';

/**
 * The statements that create plants of one node of a cluster. When the plants belong to another node by
 * now, the insert is an ordinary INSERT, which Citus sends wherever the plants belong.
 */
export function createNodeTable(access: NodeAccess, shards: ShardWatch): PlantTable {
  const table = createPlantTable(access);

  return {
    ...table,
    async insert(batch) {
      if (!shards.current) return table.insert(batch);
      try {
        return new Set(await insertOnNode(access, shards.current, batch));
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

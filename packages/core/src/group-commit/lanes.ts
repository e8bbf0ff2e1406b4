import type { Verbs } from '../database/verbs.ts';
import { createCountUpTo } from '../plants/plant-reader.ts';
import {
  createPlantStatements,
  type PlantStatements,
  type PlantWrites,
} from '../plants/statements.ts';
import type { Cluster, ClusterStore, StoreLanes } from './cluster.ts';
import type { CommittedBatch } from './creates.ts';
import { createLane } from './lane.ts';

/** The lane of a single Postgres. */
export function createMainLane(
  database: ClusterStore['database'],
  onCommit: (committed: CommittedBatch) => void,
  cluster?: Cluster,
): StoreLanes {
  const statements = orOfCluster(createPlantStatements(database), database, cluster);
  const lane = createLane({ ...database, statements, onCommit });
  return {
    laneOf: () => lane,
    all: [lane],
    countUpTo: createCountUpTo(database),
    pools: database.pools,
    nodes: () => [],
    ready: statements.ready,
  };
}

/**
 * If a write fails because plants were moved to the nodes of a cluster, sends the cluster's statement
 * instead.
 */
function orOfCluster(
  statements: PlantStatements,
  verbs: Verbs,
  cluster?: Cluster,
): PlantStatements {
  if (!cluster) return statements;
  return {
    ...statements,
    insert: (...batch) => write(({ insert }) => insert(...batch)),
    delete: (...plant) => write((writes) => writes.delete(...plant)),
  };

  async function write<T>(send: (writes: PlantWrites) => Promise<T>): Promise<T> {
    try {
      return await send(statements);
    } catch (error) {
      const others = await cluster?.writesAfter(error, verbs);
      if (!others) throw error;
      return send(others);
    }
  }
}

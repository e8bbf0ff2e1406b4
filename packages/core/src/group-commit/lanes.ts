import { createCountUpTo } from '../plants/plant-reader.ts';
import { createPlantStatements } from '../plants/statements.ts';
import type { ClusterStore, StoreLanes } from './cluster.ts';
import type { CommittedBatch } from './creates.ts';
import { createLane } from './lane.ts';

/** The lanes of a single Postgres, which has only one lane. */
export function createMainLanes(
  database: ClusterStore['database'],
  onCommit: (committed: CommittedBatch) => void,
): StoreLanes {
  const statements = createPlantStatements(database);
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

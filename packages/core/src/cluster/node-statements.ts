import { databaseCode, rootMessage } from '../error-causes.ts';
import { columnArrays } from '../plants/columns.ts';
import { idsOf, type PlantStatements } from '../plants/statements.ts';
import { createOrdinaryStatements } from './citus-statements.ts';
import type { NodeAccess } from './node-access.ts';
import { callAnywhere, callHere, shardMoved } from './node-functions.ts';
import type { ShardWatch } from './watch-shards.ts';

/**
 * The statements for the plants of one node of a cluster. When the plants belong to another node by
 * now, they are ordinary statements, which Citus sends wherever the plants belong.
 */
export function createNodeStatements(
  access: Pick<NodeAccess, 'run' | 'isDirect'>,
  shards: Pick<ShardWatch, 'current' | 'refresh'>,
): PlantStatements {
  const { run } = access;
  const ordinary = createOrdinaryStatements(run);
  const calls = () => (access.isDirect ? callHere : callAnywhere);

  return {
    ...ordinary,

    async insert(batch, deadline) {
      const map = shards.current;
      if (!map) return ordinary.insert(batch, deadline);
      const byShard = Map.groupBy(batch, ({ id }) => map.shardOf(id).id);
      // All instances lock shards in the same order, so that they cannot deadlock.
      const groups = [...byShard].sort(([a], [b]) => Number(a) - Number(b));
      const sorted = groups.flatMap(([, ofShard]) => ofShard);
      const values = (until: string) => [
        String(sorted[0]?.id),
        `{${groups.map(([id]) => id)}}`,
        `{${groups.map(([, ofShard]) => ofShard.length)}}`,
        ...columnArrays(sorted),
        until,
      ];
      const call = run(calls().insert, values, { share: 'creates', deadline });
      return call.then(
        ({ rows }) => idsOf(rows),
        (error: unknown) => orOrdinary(error, () => ordinary.insert(batch, deadline)),
      );
    },

    async delete(id, deadline, caller) {
      const shard = shards.current?.shardOf(id).id;
      if (!shard) return ordinary.delete(id, deadline, caller);
      const values = (until: string) => [String(id), shard, until];
      const call = run(calls().delete, values, { share: 'deletes', deadline, caller });
      return call.then(
        ({ rows }) => rows.length > 0,
        (error: unknown) => orOrdinary(error, () => ordinary.delete(id, deadline, caller)),
      );
    },
  };

  function orOrdinary<T>(error: unknown, statement: () => Promise<T>): Promise<T> {
    if (!needsOrdinary(error)) throw error;
    void shards.refresh();
    return statement();
  }
}

/**
 * Whether plants have moved, or a function is gone or may not be called. In all these cases nothing is
 * written. While Citus splits a shard, it reports the moved plants as an internal error.
 */
function needsOrdinary(error: unknown): boolean {
  const code = databaseCode(error) ?? '';
  if (code !== 'XX000') return [shardMoved, '42883', '42501'].includes(code);
  return rootMessage(error).startsWith('could not find valid entry for shard');
}

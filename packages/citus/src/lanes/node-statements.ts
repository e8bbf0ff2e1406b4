import {
  columnArrays,
  databaseCode,
  deleteAdvice,
  hasMoved,
  idsOf,
  type PlantStatements,
} from '@plant-store/core/cluster';
import { callHere } from '../shards/feed-functions.ts';
import { call, shardMoved } from '../shards/node-functions.ts';
import type { ShardWatch } from '../shards/watch-shards.ts';
import { createOrdinaryStatements, throwUnlessCancelled } from './citus-statements.ts';
import type { NodeAccess } from './node-access.ts';

/**
 * Makes the statements for the plants that one node stores. When the plants have moved to another node, the
 * store sends an ordinary statement. Citus passes an ordinary statement to the right node.
 */
export function createNodeStatements(
  access: Pick<NodeAccess, 'read' | 'write' | 'isDirect'>,
  shards: Pick<ShardWatch, 'current' | 'refresh'>,
): PlantStatements {
  const { write } = access;
  const ordinary = createOrdinaryStatements(access);
  const textOf = (name: keyof typeof call) => (access.isDirect ? callHere(call[name]) : call[name]);

  return {
    ...ordinary,

    async insert(batch, deadline, until) {
      const map = shards.current;
      if (!map) return ordinary.insert(batch, deadline, until);
      const byShard = Map.groupBy(batch, ({ id }) => map.shardOf(id).id);
      // All instances lock shards in the same order, so that the instances cannot deadlock.
      const groups = [...byShard].sort(([a], [b]) => Number(a) - Number(b));
      const sorted = groups.flatMap(([, ofShard]) => ofShard);
      const values = (time: string) => [
        String(sorted[0]?.id),
        `{${groups.map(([id]) => id)}}`,
        `{${groups.map(([, ofShard]) => ofShard.length)}}`,
        ...columnArrays(sorted),
        time,
      ];
      const { isDirect } = access;
      const sent = write(textOf('insert'), values, { share: 'creates', deadline, until });
      return (isDirect ? sent : sent.catch(throwUnlessCancelled)).then(
        ({ rows }) => idsOf(rows),
        (error: unknown) => orOrdinary(error, () => ordinary.insert(batch, deadline, until)),
      );
    },

    async delete(id, options) {
      const shard = shards.current?.shardOf(id).id;
      if (!shard) return ordinary.delete(id, options);
      const values = (until: string) => [String(id), shard, until];
      const sent = write(textOf('delete'), values, {
        ...options,
        share: 'deletes',
        advice: deleteAdvice,
      });
      return sent.then(
        ({ rows }) => rows.length > 0,
        (error: unknown) => orOrdinary(error, () => ordinary.delete(id, options)),
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
 * Whether the plants have moved, the function does not exist, or the user lacks the privilege to call the
 * function. In each of the three cases, the failed call has written nothing.
 */
function needsOrdinary(error: unknown): boolean {
  return [shardMoved, '42883', '42501'].includes(databaseCode(error) ?? '') || hasMoved(error);
}

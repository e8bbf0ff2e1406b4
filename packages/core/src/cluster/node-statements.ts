import type { NewPlant } from '@plant-store/schemas';
import { and, eq, sql } from 'drizzle-orm';
import type { Database } from '../database/database.ts';
import { lateWrite } from '../database/database-error.ts';
import { plants } from '../database/tables.ts';
import { databaseCode, rootMessage } from '../error-causes.ts';
import {
  contentArrays,
  contentColumns,
  contentPlaceholders,
  contentValues,
} from '../plants/columns.ts';
import { createPlantStatements, type PlantStatements } from '../plants/statements.ts';
import { db, writeStatement } from '../plants/write-statement.ts';
import type { NodeAccess } from './node-access.ts';
import { callAnywhere, callHere, shardMoved } from './node-functions.ts';
import type { ShardWatch } from './watch-shards.ts';

/**
 * The statements for the plants of one node of a cluster. When the plants belong to another node by
 * now, they are ordinary statements, which Citus sends wherever the plants belong.
 */
export function createNodeStatements(
  { run, access }: { run: Database['run']; access: Pick<NodeAccess, 'isDirect'> },
  shards: ShardWatch,
): PlantStatements {
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
        `{${sorted.map(({ id }) => id)}}`,
        ...contentArrays(sorted),
        until,
      ];
      try {
        const { rows } = await run(calls().insert, values, { share: 'creates', deadline });
        return new Set((rows as [string][]).map(([id]) => BigInt(id))); // The ids.
      } catch (error) {
        return orOrdinary(error, () => ordinary.insert(batch, deadline));
      }
    },

    async delete(id, deadline, caller) {
      const shard = shards.current?.shardOf(id).id;
      if (!shard) return ordinary.delete(id, deadline, caller);
      const values = (until: string) => [String(id), shard, until];
      try {
        const options = { share: 'deletes', deadline, caller } as const;
        const { rows } = await run(calls().delete, values, options);
        return rows.length > 0;
      } catch (error) {
        return orOrdinary(error, () => ordinary.delete(id, deadline, caller));
      }
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

/**
 * The statements of a plain Postgres, or those that Citus also accepts once the plants are distributed:
 * Citus rejects volatile functions in a write. `statement_timestamp` is the time at which a statement
 * arrived.
 *
 * @param onCitus is called when the plants turn out to be distributed
 */
export function createOrdinaryStatements(
  run: Database['run'],
  onCitus = () => {},
): PlantStatements {
  const plain = createPlantStatements(run);
  const inserts = new Map<number, string>();
  let isDistributed = false;

  return {
    ...plain,

    insert: (batch, deadline) =>
      plainOrOnCitus(
        () => plain.insert(batch, deadline),
        async () => {
          const statement = inserts.get(batch.length) ?? insertStatement(batch.length);
          inserts.set(batch.length, statement);
          const values = (until: string) =>
            batch.flatMap((plant) => [String(plant.id), ...withDeadline(plant, until)]);
          const inserted = run(statement, values, { share: 'creates', deadline });
          const { rows } = await inserted.catch(throwLateWrite);
          return new Set((rows as [string][]).map(([id]) => BigInt(id))); // The ids.
        },
      ),

    delete: (id, deadline, caller) =>
      plainOrOnCitus(
        () => plain.delete(id, deadline, caller),
        async () => {
          const values = (until: string) => [String(id), until];
          const options = { share: 'deletes', deadline, caller } as const;
          const { rows } = await run(deleteInTime, values, options);
          return rows.length > 0;
        },
      ),
  };

  /** Citus plans a statement before it runs it, so one that it does not support has changed nothing. */
  async function plainOrOnCitus<T>(first: () => Promise<T>, onDistributed: () => Promise<T>) {
    if (isDistributed) return onDistributed();
    try {
      return await first();
    } catch (error) {
      if (!notSupported.includes(databaseCode(error) ?? '')) throw error;
      isDistributed = true;
      onCitus();
      return onDistributed();
    }
  }
}

/** The second one is for the arrays of a large batch, whose type Citus loses on the way to its shards. */
const notSupported = ['0A000', '42P18'];

const arrivedInTime = sql`statement_timestamp() < ${sql.placeholder('deadline')}::timestamptz`;

function insertStatement(size: number): string {
  const row = {
    id: sql.placeholder('id'),
    ...contentPlaceholders,
    // Citus would evaluate an expression that fails even when it is not needed.
    name: sql<string>`case when ${arrivedInTime} then ${contentPlaceholders.name}::text end`,
  };
  const rows = Array.from({ length: size }, () => row);
  const insert = db.insert(plants).values(rows).onConflictDoNothing({ target: plants.id });
  return insert.returning({ id: plants.id }).toSQL().sql;
}

/** The content of a plant, with the deadline before the name. */
function withDeadline(plant: NewPlant, until: string): (string | null)[] {
  const values = contentValues(plant);
  values.splice(nameAt, 0, until);
  return values;
}

const nameAt = contentColumns.findIndex(({ field }) => field === 'name');

/** A plant has a name, so its column is null only after the deadline. */
function throwLateWrite(cause: unknown): never {
  if (databaseCode(cause) !== notNullViolated) throw cause;
  throw Object.assign(new Error(lateWrite), { code: '22P02', severity: 'ERROR' });
}

const notNullViolated = '23502';

const { text: deleteInTime } = writeStatement(
  db
    .delete(plants)
    .where(and(eq(plants.id, sql.placeholder('id')), arrivedInTime))
    .returning({ id: plants.id }),
);

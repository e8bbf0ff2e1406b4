import type { NewPlant, StoredPlant } from '@plant-store/schemas';
import { eq, type SQL, sql } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import type { Rows, Run } from '../database/database.ts';
import { lateWrite } from '../database/database-error.ts';
import type { Caller, Deadline } from '../database/deadline.ts';
import { plants } from '../database/tables.ts';
import {
  contentArrays,
  contentColumns,
  contentPlaceholders,
  contentValues,
  storedPlantColumns,
  toStoredPlant,
} from './columns.ts';
import { db, writeStatement } from './write-statement.ts';

/** The statements of requests on plants. They use only the table `plants`, and find rows by id. */
export interface PlantStatements {
  /**
   * Inserts plants with distinct ids in one statement and one commit, skips those whose id is taken,
   * and returns the ids that it inserted.
   */
  insert(batch: readonly NewPlant[], deadline: Deadline): Promise<Set<bigint>>;
  /** Deletes a plant. Returns whether there was one, once that is durable on the standby. */
  delete(id: bigint, deadline: Deadline, caller?: Caller): Promise<boolean>;
  /** Returns the plants that are stored under these ids. */
  find(ids: readonly bigint[], deadline: Deadline): Promise<StoredPlant[]>;
  /** Returns the plants that are stored under these ids, once they are durable on the standby. */
  findDurable(ids: readonly bigint[], deadline: Deadline): Promise<StoredPlant[]>;
  /** Resolves when the database answers and has the table. On a cluster, it needs no other node. */
  ready(deadline: Deadline): Promise<void>;
}

/**
 * Writes to the log of the database, so that the commit of a statement that only reads waits for the
 * synchronous standby, too.
 *
 * What a statement sees can be visible before it is durable, when a commit's wait for the standby was
 * cancelled. With a statement of its own, a failover between the two could confirm on the new primary
 * what was read on the old one.
 */
const waitForStandby = sql`pg_logical_emit_message(true, 'plant-store', '')`.as('written');

const idsGiven = sql`${plants.id} = any(${sql.placeholder('ids')}::bigint[])`;

export function createPlantStatements(run: Run): PlantStatements {
  const inserts = new Map<number, string>();

  return {
    async insert(batch, deadline) {
      const size = batch.length;
      const isLarge = size > maxRows;
      const statement = isLarge ? insertArrays : (inserts.get(size) ?? insertStatement(size));
      if (!isLarge) inserts.set(size, statement);
      const values = (until: string) => [
        ...(isLarge
          ? [`{${batch.map(({ id }) => id)}}`, ...contentArrays(batch)]
          : batch.flatMap((plant) => [String(plant.id), ...contentValues(plant)])),
        until,
      ];
      const { rows } = await run(statement, values, { share: 'creates', deadline });
      // Nearly always every plant is new.
      if (rows.length === size) return new Set(batch.map(({ id }) => id));
      return new Set((rows as [string][]).map(([id]) => BigInt(id))); // The ids.
    },

    async delete(id, deadline, caller) {
      const values = (until: string) => [String(id), until];
      const { rows } = await run(deletePlant, values, { share: 'deletes', deadline, caller });
      const [[count] = [0]] = rows as [number | string][]; // How many were deleted.
      return Number(count) > 0;
    },

    async find(ids, deadline) {
      return toPlants(await run(findPlants, [`{${ids}}`], { ...lookUp, deadline }));
    },

    async findDurable(ids, deadline) {
      const options = { share: 'creates', deadline, isRepeatable: true } as const;
      return toPlants(await run(findDurablePlants, [`{${ids}}`], options));
    },

    async ready(deadline) {
      await run(findNothing, [], { ...lookUp, deadline });
    },
  };
}

const lookUp = { share: 'lookUps', isRepeatable: true } as const;

function toPlants({ rows }: Rows): StoredPlant[] {
  return (rows as unknown[][]).map(toStoredPlant);
}

/** Rows in an INSERT that is written for its size, at most. A session keeps each such statement. */
const maxRows = 128;

/**
 * The text of the INSERT for batches of one size. `INSERT … SELECT FROM unnest` would need only one
 * text for all sizes, but on Citus it sends every row through the coordinator.
 */
function insertStatement(size: number): string {
  const row = { id: sql.placeholder('id'), ...contentPlaceholders };
  const rows = Array.from({ length: size }, () => row);
  return db
    .insert(plants)
    .values(rows)
    .onConflictDoNothing({ target: plants.id })
    .returning({ id: inTime })
    .toSQL().sql;
}

/**
 * The id of a row that was just written. After the deadline it is an error instead, which undoes the
 * whole statement: this process may have been frozen before it sent the statement, and the network may
 * deliver it late. Only an expression that fails can undo a statement, because `RAISE` needs a function.
 */
const inTime: SQL = sql`case when clock_timestamp() < ${sql.placeholder('deadline')}::timestamptz
  then ${plants.id} else (${sql.raw(`'${lateWrite}: '`)} || clock_timestamp())::bigint end`;

const columns = [{ name: 'id', type: 'bigint' }, ...contentColumns];
const arrays = columns.map(({ name, type }) => sql`${sql.placeholder(name)}::${sql.raw(type)}[]`);

/** The text of the INSERT for larger batches, whose values are an array for each column. */
const { sql: insertArrays } = new PgDialect().sqlToQuery(sql`
  insert into ${plants} (${sql.raw(columns.map(({ name }) => name).join())})
  select * from unnest(${sql.join(arrays, sql`, `)})
  on conflict (id) do nothing returning ${inTime}`);

const deleted = db.$with('deleted').as(
  db
    .delete(plants)
    .where(eq(plants.id, sql.placeholder('id')))
    .returning({ id: inTime.as('id') }),
);

const { text: deletePlant } = writeStatement(
  db.with(deleted).select({ count: sql`count(*)`, waitForStandby }).from(deleted),
);

const { text: findPlants } = writeStatement(
  db.select(storedPlantColumns(plants)).from(plants).where(idsGiven),
);

const { text: findNothing } = writeStatement(
  db.select(storedPlantColumns(plants)).from(plants).where(sql`false`),
);

const { text: findDurablePlants } = writeStatement(
  db
    .select({ ...storedPlantColumns(plants), waitForStandby })
    .from(plants)
    .where(idsGiven),
);

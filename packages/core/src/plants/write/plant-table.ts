import type { NewPlant } from '@plant-store/schemas';
import { eq, sql } from 'drizzle-orm';
import type { Database, Drizzle } from '../../database/database.ts';
import { plants } from '../../database/tables.ts';
import { queryWithTimeout } from '../../database/timeout.ts';
import { createDurableFind } from './durable-find.ts';

/** The SQL statements that a create needs. They use only the table `plants`, and find rows by id. */
export interface PlantTable {
  /**
   * Inserts plants with distinct ids in one statement and one commit, skips those whose id is taken,
   * and returns the ids that it inserted.
   */
  insert(batch: readonly NewPlant[]): Promise<Set<bigint>>;
  /** Returns the plants that are stored under these ids, once they are durable on the standby. */
  find(ids: readonly bigint[]): Promise<NewPlant[]>;
  /** Deletes a plant, and returns whether there was one. */
  delete(id: bigint): Promise<boolean>;
  /** Checks that the table exists. */
  ready(): Promise<void>;
}

export function createPlantTable({ db, query }: Pick<Database, 'db' | 'query'>): PlantTable {
  const inserts = new Map<number, string>();

  return {
    async insert(batch) {
      const size = batch.length;
      const statement = inserts.get(size) ?? insertStatement(db, size);
      inserts.set(size, statement);
      const values = batch.flatMap(({ id, name, tag = null }) => [String(id), name, tag]);
      const { rows } = await query(statement, values);
      // Nearly always every plant is new.
      if (rows.length === size) return new Set(batch.map(({ id }) => id));
      return new Set(rows.map((row) => BigInt((row as [string])[0]))); // `returning id`.
    },

    find: createDurableFind({ db, query }),

    async delete(id) {
      // Not by `query`: a second run would not find the plant that the first one deleted.
      const deleted = await db.delete(plants).where(eq(plants.id, id)).returning({ id: plants.id });
      return deleted.length > 0;
    },

    async ready() {
      await queryWithTimeout(db.select({ id: plants.id }).from(plants).limit(0));
    },
  };
}

/**
 * The text of the INSERT for batches of one size. `INSERT … SELECT FROM unnest` would need only one
 * text for all sizes, but on Citus it sends every row through the coordinator. Drizzle only writes the
 * text: it would be too slow to let it insert every batch.
 */
function insertStatement(db: Drizzle, size: number): string {
  const row = {
    id: sql.placeholder('id'),
    name: sql.placeholder('name'),
    tag: sql.placeholder('tag'),
  };
  const rows = Array.from({ length: size }, () => row);
  return db
    .insert(plants)
    .values(rows)
    .onConflictDoNothing({ target: plants.id })
    .returning({ id: plants.id })
    .toSQL().sql;
}

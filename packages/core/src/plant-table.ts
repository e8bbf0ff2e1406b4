import type { NewPlant } from '@plant-store/schemas';
import { inArray, sql } from 'drizzle-orm';
import type { Drizzle } from './database.ts';
import { answerInTime } from './deadline.ts';
import { plants } from './tables.ts';

/** The statements that the store sends. Each touches `plants` alone and is keyed by id. */
export interface PlantTable {
  /** Inserts plants of distinct ids and returns the ids that were free. One statement, one commit. */
  insert(batch: readonly NewPlant[]): Promise<bigint[]>;
  /** The plants that are stored under these ids. */
  find(ids: readonly bigint[]): Promise<NewPlant[]>;
  /** Asks the database for nothing, from the table that must be there. */
  ready(): Promise<void>;
}

export function createPlantTable(db: Drizzle): PlantTable {
  const inserts = new Map<number, ReturnType<typeof prepareInsert>>();

  return {
    async insert(batch) {
      const size = batch.length;
      const insert = inserts.get(size) ?? prepareInsert(db, size);
      inserts.set(size, insert);
      const rows = await insert.execute(placeholderValues(batch));
      return rows.map(({ id }) => id);
    },

    async find(ids) {
      const rows = await db
        .select({ id: plants.id, name: plants.name, tag: plants.tag })
        .from(plants)
        .where(inArray(plants.id, [...ids]));
      return rows.map(({ id, name, tag }) => ({ id, name, ...(tag !== null && { tag }) }));
    },

    async ready() {
      await answerInTime(db.select({ id: plants.id }).from(plants).limit(0));
    },
  };
}

// Multi-row VALUES, prepared once per batch size: an INSERT … SELECT FROM unnest would be one
// statement for all sizes, but pulls every row to the coordinator on Citus.
function prepareInsert(db: Drizzle, size: number) {
  const rows = Array.from({ length: size }, (_, row) => ({
    id: sql.placeholder(`id${row}`),
    name: sql.placeholder(`name${row}`),
    tag: sql.placeholder(`tag${row}`),
  }));
  return db
    .insert(plants)
    .values(rows)
    .onConflictDoNothing({ target: plants.id })
    .returning({ id: plants.id })
    .prepare(`insert_${size}_plants`);
}

function placeholderValues(batch: readonly NewPlant[]): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [row, plant] of batch.entries()) {
    values[`id${row}`] = plant.id;
    values[`name${row}`] = plant.name;
    values[`tag${row}`] = plant.tag ?? null;
  }
  return values;
}

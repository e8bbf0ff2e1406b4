import type { NewPlant } from '@plant-store/schemas';
import { inArray, sql } from 'drizzle-orm';
import type { Database, Drizzle } from '../database/database.ts';
import { answerInTime } from '../database/timeout.ts';
import { exactText } from './exact-text.ts';
import { plants } from '../database/tables.ts';

/** The statements that the store sends. Each touches `plants` alone and is keyed by id. */
export interface PlantTable {
  /**
   * Inserts plants of distinct ids, leaving out those whose id is taken, and returns how many it
   * inserted. One statement, one commit.
   */
  insert(batch: readonly NewPlant[]): Promise<number>;
  /** The plants that are stored under these ids, for good. */
  find(ids: readonly bigint[]): Promise<NewPlant[]>;
  /** Asks the database for nothing, from the table that must be there. */
  ready(): Promise<void>;
}

export function createPlantTable({ db, execute }: Pick<Database, 'db' | 'execute'>): PlantTable {
  const inserts = new Map<number, string>();

  return {
    async insert(batch) {
      const size = batch.length;
      const insert = inserts.get(size) ?? insertOf(db, size);
      inserts.set(size, insert);
      return execute(
        insert,
        batch.flatMap(({ id, name, tag = null }) => [String(id), name, tag]),
      );
    },

    async find(ids) {
      const found = await findPlants(db, ids);
      await waitForStandby(db);
      return found;
    },

    async ready() {
      await answerInTime(db.select({ id: plants.id }).from(plants).limit(0));
    },
  };
}

/** The plants that can be seen under these ids. */
export async function findPlants(db: Drizzle, ids: readonly bigint[]): Promise<NewPlant[]> {
  const rows = await db
    .select({ id: plants.id, name: exactText<string>(plants.name), tag: exactText(plants.tag) })
    .from(plants)
    .where(inArray(plants.id, [...ids]));
  return rows.map(({ id, name, tag }) => ({ id, name, ...(tag !== null && { tag }) }));
}

/**
 * Settles when what can be seen is there for good. A row can be seen before the standby has it, when
 * its commit did not wait for that; this writes to the log behind the row, and its commit does wait.
 */
export async function waitForStandby(db: Drizzle): Promise<void> {
  await db.execute(sql`select pg_logical_emit_message(true, 'plant-store', '')`);
}

// Multi-row VALUES, one statement for each batch size: an INSERT … SELECT FROM unnest would be one
// for all sizes, but pulls every row to the coordinator on Citus. Drizzle writes the statement once;
// that it fills it in for each batch is what the hot path cannot afford.
function insertOf(db: Drizzle, size: number): string {
  const row = {
    id: sql.placeholder('id'),
    name: sql.placeholder('name'),
    tag: sql.placeholder('tag'),
  };
  const rows = Array.from({ length: size }, () => row);
  return db.insert(plants).values(rows).onConflictDoNothing({ target: plants.id }).toSQL().sql;
}

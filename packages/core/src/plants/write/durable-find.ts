import type { NewPlant } from '@plant-store/schemas';
import { sql } from 'drizzle-orm';
import type { Database } from '../../database/database.ts';
import { plants } from '../../database/tables.ts';
import { exactText, withoutDot } from '../exact-text.ts';
import { prepareStatement } from '../statement.ts';

/**
 * Makes a function that returns the plants that are stored under these ids, once they are durable on
 * the synchronous standby.
 *
 * A row can be visible before it is durable, when its commit's wait for the standby was cancelled. So
 * the statement that reads it also writes to the log, after the row, and its own commit waits for the
 * standby. With two statements, a failover between them could confirm on the new primary what was
 * read on the old one.
 */
export function createDurableFind({ db, query }: Pick<Database, 'db' | 'query'>) {
  const select = prepareStatement(
    query,
    db
      .select({
        id: plants.id,
        name: exactText(plants.name),
        tag: exactText(plants.tag),
        written: sql`pg_logical_emit_message(true, 'plant-store', '')`,
      })
      .from(plants)
      .where(sql`${plants.id} = any(${sql.placeholder('ids')}::bigint[])`),
  );
  return async (ids: readonly bigint[]): Promise<NewPlant[]> => {
    const { rows } = await select({ ids: `{${ids}}` });
    return (rows as PlantRow[]).map(([id, name, tag]) => ({
      id: BigInt(id),
      name: withoutDot(name),
      ...(tag !== null && { tag: withoutDot(tag) }),
    }));
  };
}

type PlantRow = [id: string | number | bigint, name: string, tag: string | null, ...unknown[]];

import type { NewPlant } from '@plant-store/schemas';
import { and, asc, eq, getTableColumns, gt, gte, lt, type SQL, sql } from 'drizzle-orm';
import type { Drizzle } from '../database/database.ts';
import { orUnavailable } from '../database/database-error.ts';
import { plants } from '../database/tables.ts';
import { exactText } from './exact-text.ts';

/** A plant as it is stored. */
export interface StoredPlant extends NewPlant {
  /** When it was inserted into this store. */
  readonly createdAt: Date;
}

/** Which plants to read; all of them when every property is omitted. */
export interface PlantQuery {
  /** Only plants with this tag. */
  readonly tag?: string | undefined;
  /** Only plants that were created at this time or later. */
  readonly since?: Date | undefined;
  /** Only plants with greater ids. */
  readonly after?: bigint | undefined;
  /** How many plants to read, at most. */
  readonly limit?: number | undefined;
}

export interface PlantReader {
  /**
   * The plant with this id; undefined when there is none.
   *
   * @throws PlantStoreError `databaseUnavailable`
   */
  get(id: bigint): Promise<StoredPlant | undefined>;
  /**
   * Reads plants ascending by id, in pages of limited size. A plant that exists the whole time is
   * returned exactly once. A plant that is created meanwhile may or may not be returned.
   *
   * @throws PlantStoreError `databaseUnavailable`
   */
  read(query?: PlantQuery): AsyncGenerator<StoredPlant[]>;
}

/** A page has at most `maxPlants` plants, and ends with the plant whose text reaches `maxBytes`. */
const maxPlants = 5_000;
const maxBytes = 1024 * 1024;

export function createPlantReader(db: Drizzle): PlantReader {
  return {
    async get(id) {
      const [plant] = await page(eq(plants.id, id), 1);
      return plant;
    },

    async *read({ tag, since, after, limit = Number.POSITIVE_INFINITY } = {}) {
      let remaining = limit;
      let last = after;
      while (remaining > 0) {
        const condition = and(
          last === undefined ? undefined : gt(plants.id, last),
          tag === undefined ? undefined : eq(plants.tag, tag),
          since && gte(plants.createdAt, since),
        );
        const found = await page(condition, Math.min(remaining, maxPlants));
        if (found.length === 0) return;
        yield found;
        remaining -= found.length;
        last = found.at(-1)?.id;
      }
    },
  };

  /** Reads the first plants that meet a condition. The database keeps nothing open between pages. */
  async function page(condition: SQL | undefined, limit: number): Promise<StoredPlant[]> {
    const first = db
      .select({ ...getTableColumns(plants), bytesBefore: bytesBefore.as('bytes_before') })
      .from(plants)
      .where(condition)
      .orderBy(asc(plants.id))
      .limit(limit)
      .as('first');
    const { id, name, tag, createdAt } = first;
    const query = db
      .select({ id, name: exactText<string>(name), tag: exactText<string | null>(tag), createdAt })
      .from(first)
      .where(lt(first.bytesBefore, maxBytes))
      .orderBy(asc(id));
    const rows = await orUnavailable(query);
    return rows.map(({ tag, ...row }) => ({ ...row, ...(tag !== null && { tag }) }));
  }
}

/** The bytes of the names and tags of all preceding plants. */
const bytesBefore = sql<number>`coalesce(
  sum(octet_length(${plants.name}) + coalesce(octet_length(${plants.tag}), 0))
    over (order by ${plants.id} rows between unbounded preceding and 1 preceding), 0)`;

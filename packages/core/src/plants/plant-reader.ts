import type { NewPlant } from '@plant-store/schemas';
import { and, asc, eq, getTableColumns, gt, gte, lt, type SQL, sql } from 'drizzle-orm';
import type { Drizzle } from '../database/database.ts';
import { orUnavailable } from '../database/database-error.ts';
import { plants } from '../database/tables.ts';
import { exactText } from './exact-text.ts';

/** A plant as it is stored. */
export interface StoredPlant extends NewPlant {
  /** When this store committed it. */
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
   * Reads plants ascending by id, in pages of bounded size. Every plant that exists throughout is
   * read once; one that is created meanwhile may be.
   *
   * @throws PlantStoreError `databaseUnavailable`
   */
  read(query?: PlantQuery): AsyncGenerator<StoredPlant[]>;
}

/** A page has so many plants at most, and ends after the plant that exceeds so many bytes. */
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

  /** The first plants that meet a condition. Nothing stays open in the database between pages. */
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

/** How many bytes the names and tags of the preceding plants have. */
const bytesBefore = sql<number>`coalesce(
  sum(octet_length(${plants.name}) + coalesce(octet_length(${plants.tag}), 0))
    over (order by ${plants.id} rows between unbounded preceding and 1 preceding), 0)`;

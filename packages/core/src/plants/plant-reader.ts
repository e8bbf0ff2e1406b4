import type { NewPlant } from '@plant-store/schemas';
import { and, asc, eq, getTableColumns, gt, gte, lt, type SQL, sql } from 'drizzle-orm';
import type { Drizzle } from '../database/database.ts';
import { databaseUnavailable } from '../database/database-error.ts';
import { exactText } from './exact-text.ts';
import { plants } from '../database/tables.ts';

/** A plant as it is kept. */
export interface StoredPlant extends NewPlant {
  /** When this store got it. */
  readonly createdAt: Date;
}

/** Which plants to read; all of them unless it says otherwise. */
export interface PlantQuery {
  /** Those with this tag. */
  readonly tag?: string | undefined;
  /** Those that the store got then or later. */
  readonly since?: Date | undefined;
  /** Those with greater ids. */
  readonly after?: bigint | undefined;
  /** So many at the most. */
  readonly limit?: number | undefined;
}

export interface PlantReader {
  /**
   * The plant with an id; undefined where there is none.
   * @throws PlantStoreError `databaseUnavailable`
   */
  get(id: bigint): Promise<StoredPlant | undefined>;
  /**
   * Reads plants in order of id, some at a time, in memory that depends neither on their number nor
   * on their length. Those that are there when it begins are all read; later ones may be.
   * @throws PlantStoreError `databaseUnavailable`
   */
  read(query?: PlantQuery): AsyncGenerator<StoredPlant[]>;
}

/** Of what is read at once: so many plants, and no further one once they hold so many bytes. */
const maxPlants = 5_000;
const maxBytes = 1024 * 1024;

export function createPlantReader(db: Drizzle): PlantReader {
  return {
    async get(id) {
      const [plant] = await page(eq(plants.id, id), 1);
      return plant;
    },

    async *read({ tag, since, after, limit = Number.POSITIVE_INFINITY } = {}) {
      let left = limit;
      let last = after;
      while (left > 0) {
        const wanted = and(
          last === undefined ? undefined : gt(plants.id, last),
          tag === undefined ? undefined : eq(plants.tag, tag),
          since && gte(plants.createdAt, since),
        );
        const some = await page(wanted, Math.min(left, maxPlants));
        if (some.length === 0) return;
        yield some;
        left -= some.length;
        last = some.at(-1)?.id;
      }
    },
  };

  /** The first plants of those that are wanted. Nothing stays open in the database between pages. */
  async function page(wanted: SQL | undefined, limit: number): Promise<StoredPlant[]> {
    const first = db
      .select({ ...getTableColumns(plants), bytesBefore: bytesBefore.as('bytes_before') })
      .from(plants)
      .where(wanted)
      .orderBy(asc(plants.id))
      .limit(limit)
      .as('first');
    const { id, name, tag, createdAt } = first;
    const query = db
      .select({ id, name: exactText<string>(name), tag: exactText<string | null>(tag), createdAt })
      .from(first)
      .where(lt(first.bytesBefore, maxBytes))
      .orderBy(asc(id));
    try {
      return (await query).map(({ tag, ...row }) => ({ ...row, ...(tag !== null && { tag }) }));
    } catch (error) {
      throw databaseUnavailable(error);
    }
  }
}

/** How long the texts are of the plants that come before one. */
const bytesBefore = sql<number>`coalesce(
  sum(octet_length(${plants.name}) + coalesce(octet_length(${plants.tag}), 0))
    over (order by ${plants.id} rows between unbounded preceding and 1 preceding), 0)`;

import { and, eq, sql } from 'drizzle-orm';
import type { Bulk } from '../../database/database.ts';
import { plants, tagHash } from '../../database/tables.ts';

/** Makes a function that counts the plants, or those with a tag. It reads the whole table or its index. */
export function createPlantCounter({ db }: Pick<Bulk, 'db'>) {
  return async ({ tag }: { readonly tag?: string | undefined } = {}): Promise<number> => {
    const withTag =
      tag === undefined
        ? undefined
        : and(eq(tagHash(plants.tag), tagHash(sql`${tag}::text`)), eq(plants.tag, tag));
    const [row] = await db
      .select({ count: sql`count(*)`.mapWith(Number) })
      .from(plants)
      .where(withTag);
    return row?.count ?? 0;
  };
}

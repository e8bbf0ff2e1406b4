import { eq, gt } from 'drizzle-orm';
import { customType, pgTable, text, timestamp } from 'drizzle-orm/pg-core';
import { drizzle } from 'drizzle-orm/postgres-js';
import { z } from 'zod';
import { databaseUrl } from './environment.ts';

/** The body of a create. Ids beyond 2^53 are invalid, because the peers' JSON parsers would round them. */
export const NewPlant = z.object({
  id: z.int(),
  name: z.string(),
  tag: z.string().optional(),
});

/** The response to a create. */
export const Plant = NewPlant.omit({ id: true });

export const NewPlants = z.object({ plants: z.array(NewPlant).min(1).max(1000) });

export const CreateResults = z.object({
  results: z.array(z.object({ id: z.int(), result: z.enum(['created', 'exists']) })),
});

/** An id in a path, a query or the response to a read. The id is text, because no JSON parser rounds text. */
const IdText = z.string().regex(/^-?\d{1,19}$/);

export const PlantId = z.object({ id: IdText });

/** The values of a query are text, so zod turns the limit into a number. */
export const ListPlants = z.object({
  after: IdText.optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
});

/** The response to a read. */
export const StoredPlant = z.object({
  id: z.string(),
  name: z.string(),
  tag: z.string().nullable(),
  createdAt: z.date(),
});

export const PlantPage = z.object({ plants: z.array(StoredPlant), next: z.string().optional() });

// postgres.js reads a bigint as text: https://orm.drizzle.team/docs/custom-types
const bigintText = customType<{ data: string }>({ dataType: () => 'bigint' });

const plants = pgTable('plants', {
  id: bigintText().primaryKey(),
  name: text().notNull(),
  tag: text(),
  createdAt: timestamp('created_at', { withTimezone: true }).notNull().defaultNow(),
});

// https://orm.drizzle.team/docs/connect-postgresql; postgres.js has a pool of ten connections.
const db = drizzle(databaseUrl);

/** Inserts a plant: https://orm.drizzle.team/docs/insert#on-conflict-do-nothing. */
export async function insertPlant({ id, ...plant }: z.output<typeof NewPlant>): Promise<void> {
  await db
    .insert(plants)
    .values({ id: String(id), ...plant })
    .onConflictDoNothing();
}

/** Inserts several plants with one statement: https://orm.drizzle.team/docs/insert#insert-multiple-rows. */
export async function insertPlants({ plants: list }: z.output<typeof NewPlants>) {
  const rows = list.map(({ id, ...plant }) => ({ id: String(id), ...plant }));
  const inserted = await db
    .insert(plants)
    .values(rows)
    .onConflictDoNothing()
    .returning({ id: plants.id });
  const created = new Set(inserted.map(({ id }) => id));
  const resultOf = (id: number) => (created.has(String(id)) ? 'created' : 'exists');
  return { results: list.map(({ id }) => ({ id, result: resultOf(id) }) as const) };
}

/** Returns the plant with this id: https://orm.drizzle.team/docs/select. */
export async function selectPlant({ id }: z.output<typeof PlantId>) {
  const [plant] = await db.select().from(plants).where(eq(plants.id, id));
  return plant;
}

/** Returns a page of plants: https://orm.drizzle.team/docs/guides/cursor-based-pagination. */
export async function selectPage({ after, limit }: z.output<typeof ListPlants>) {
  const page = await db
    .select()
    .from(plants)
    .where(after === undefined ? undefined : gt(plants.id, after))
    .orderBy(plants.id)
    .limit(limit);
  return { plants: page, next: page.length === limit ? page.at(-1)?.id : undefined };
}

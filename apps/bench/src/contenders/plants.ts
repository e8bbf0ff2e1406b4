import { bigint, pgTable, text } from 'drizzle-orm/pg-core';
import { drizzle } from 'drizzle-orm/postgres-js';
import { z } from 'zod';
import { databaseUrl } from './environment.ts';

/** The body, as a zod schema. Ids beyond 2^53 are left out: none of the peers' JSON parsers has them. */
export const NewPlant = z.object({
  id: z.int(),
  name: z.string(),
  tag: z.string().optional(),
});

/** The reply. */
export const Plant = NewPlant.omit({ id: true });

const plants = pgTable('plants', {
  id: bigint({ mode: 'number' }).primaryKey(),
  name: text().notNull(),
  tag: text(),
});

// https://orm.drizzle.team/docs/connect-postgresql: a pool of ten connections, postgres.js's default.
const db = drizzle(databaseUrl);

/** One durable insert by Drizzle's query builder, https://orm.drizzle.team/docs/insert#on-conflict-do-nothing. */
export async function insertPlant(plant: z.output<typeof NewPlant>): Promise<void> {
  await db.insert(plants).values(plant).onConflictDoNothing();
}

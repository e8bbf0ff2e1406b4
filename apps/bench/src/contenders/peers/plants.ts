import { bigint, pgTable, text } from 'drizzle-orm/pg-core';
import { drizzle } from 'drizzle-orm/postgres-js';
import { z } from 'zod';
import { databaseUrl } from './environment.ts';

/** The request's body. Ids beyond 2^53 are invalid, since the peers' JSON parsers round them. */
export const NewPlant = z.object({
  id: z.int(),
  name: z.string(),
  tag: z.string().optional(),
});

/** The reply's body. */
export const Plant = NewPlant.omit({ id: true });

const plants = pgTable('plants', {
  id: bigint({ mode: 'number' }).primaryKey(),
  name: text().notNull(),
  tag: text(),
});

// https://orm.drizzle.team/docs/connect-postgresql; postgres.js has a pool of ten connections.
const db = drizzle(databaseUrl);

/** Inserts a plant: https://orm.drizzle.team/docs/insert#on-conflict-do-nothing. */
export async function insertPlant(plant: z.output<typeof NewPlant>): Promise<void> {
  await db.insert(plants).values(plant).onConflictDoNothing();
}

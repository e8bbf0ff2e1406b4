import { openPlantStore } from '@plant-store/core';
import postgres from 'postgres';

/** Makes the tables in a database, and connects to it. */
export async function migrated({ DATABASE_URL }: { DATABASE_URL: string }): Promise<postgres.Sql> {
  await (await openPlantStore({ databaseUrl: DATABASE_URL })).close();
  return postgres(DATABASE_URL);
}

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bench } from '../../measurements/bench.ts';
import type { DatabaseSettings } from '../../measurements/running-server.ts';

/** Where the plants of a server go. */
export interface Place {
  readonly settings: DatabaseSettings;
  /** Returns undefined for an embedded database, which only its server can read. */
  countPlants(): Promise<number | undefined>;
  remove(): Promise<void>;
}

export async function postgresPlace({ postgres }: Bench): Promise<Place> {
  const database = await postgres.createDatabase();
  await database.empty();
  return {
    settings: { DATABASE_URL: database.url },
    countPlants: database.countPlants,
    async remove() {
      await database.empty();
      await database.close();
    },
  };
}

export async function embeddedPlace(): Promise<Place> {
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-embedded-'));
  return {
    settings: { PLANT_STORE_DATA_DIR: directory },
    countPlants: async () => undefined,
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

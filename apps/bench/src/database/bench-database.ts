import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';

/** Where the plants of a server go: a Postgres, the nodes of a cluster or an embedded database. */
export interface BenchDatabase {
  /** The settings with which a server uses each node. */
  readonly settings: readonly Record<string, string>[];
  /** The process id of each node's Postgres. */
  readonly pids: readonly number[];
  /** Returns NaN for an embedded database, which only its server can read. */
  countPlants(): Promise<number>;
  /** Removes a database that belongs to one measurement. */
  remove?(): Promise<void>;
}

/** A database that the benchmark itself can also query. */
export interface PostgresDatabase extends BenchDatabase {
  readonly sql: postgres.Sql;
  /** Returns the database after a checkpoint, so that no checkpoint slows down only one case. */
  checkpointed(): Promise<PostgresDatabase>;
  /** Returns the database without plants, after a checkpoint. */
  emptied(): Promise<PostgresDatabase>;
}

/** @param adminUrl the URL for the benchmark itself */
export function openDatabase(
  urls: readonly string[],
  pids: readonly number[],
  adminUrl: string,
): PostgresDatabase {
  const sql = postgres(adminUrl, { max: 1, onnotice: () => {} });
  const database: PostgresDatabase = {
    settings: urls.map((url) => ({ DATABASE_URL: url })),
    pids,
    sql,
    countPlants: async () => (await sql`select count(*)::int from plants`)[0]?.['count'],
    async checkpointed() {
      await sql`checkpoint`;
      return database;
    },
    async emptied() {
      await sql`truncate plants`;
      return database.checkpointed();
    },
  };
  return database;
}

/** A directory in which a server makes an embedded database. */
export async function openEmbedded(): Promise<BenchDatabase> {
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-embedded-'));
  return {
    settings: [{ PLANT_STORE_DATA_DIR: directory }],
    pids: [],
    countPlants: async () => Number.NaN,
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

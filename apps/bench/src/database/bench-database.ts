import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';

/** The database of a server: a Postgres, the nodes of a cluster or an embedded database. */
export interface BenchDatabase {
  /** The settings of servers: the element with the index n makes a server use the database node n. */
  readonly settings: readonly Record<string, string>[];
  /** The process id of each node's Postgres. */
  readonly pids: readonly number[];
  /** Returns NaN for an embedded database, which no second process can open. */
  countPlants(): Promise<number>;
  /** Removes a database that belongs to one measurement. */
  remove?(): Promise<void>;
}

/** A database that the benchmark itself can query. */
export interface PostgresDatabase extends BenchDatabase {
  readonly sql: postgres.Sql;
  /** Runs a checkpoint before a case, so that no checkpoint runs during the case. Returns the database. */
  checkpointed(): Promise<PostgresDatabase>;
  /** Removes all plants, runs a checkpoint, and returns the database. */
  emptied(): Promise<PostgresDatabase>;
}

/** @param adminUrl the URL that the benchmark itself uses */
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

/** Makes a directory in which a server creates an embedded database. */
export async function openEmbedded(): Promise<BenchDatabase> {
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-embedded-'));
  return {
    settings: [{ PLANT_STORE_DATA_DIR: directory }],
    pids: [],
    countPlants: async () => Number.NaN,
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

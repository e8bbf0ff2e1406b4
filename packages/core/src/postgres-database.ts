import { drizzle } from 'drizzle-orm/postgres-js';
import { migrate } from 'drizzle-orm/postgres-js/migrator';
import { type Database, migrationsFolder } from './database.ts';
import { answerInTime, deadline } from './deadline.ts';
import { postgresOverTls as postgres } from './postgres-tls.ts';

const common = {
  // Of at most a second: postgres.js backs off to 20 s of its own accord.
  backoff: (retries: number) => Math.min(2 ** retries / 100, 1),
  connect_timeout: 5,
  onnotice: () => {},
};

/**
 * Opens a Postgres by its URL (`postgres://user:password@host:port/database`) and migrates it.
 *
 * @throws PlantStoreError `databaseUnavailable` when it cannot be reached, refuses the user or does
 *   not answer; the driver's error is its cause.
 */
export async function openPostgres(url: string): Promise<Database> {
  await migratePostgres(url);
  // Drizzle changes the parsers of its client, so this one is for nobody else.
  const client = postgres(url, {
    ...common,
    max: 4,
    connection: {
      application_name: 'plant-store',
      statement_timeout: deadline,
      lock_timeout: deadline,
    },
  });
  return {
    db: drizzle(client),
    maxInFlight: 4,
    async execute(statement, values) {
      const { count } = await client.unsafe(statement, [...values], { prepare: true });
      return count;
    },
    close: () => client.end({ timeout: 1 }),
  };
}

/** Any key will do, as long as every instance of the store uses the same one. */
const migrationLock = 0x706c616e7473; // "plants"

/**
 * One instance migrates at a time. The lock is a transaction's, so that it ends with that and needs
 * no unlocking; on a connection beside the one that migrates, since Drizzle's migrator cannot run
 * within a transaction of ours.
 */
async function migratePostgres(url: string): Promise<void> {
  const client = postgres(url, { ...common, max: 2 });
  try {
    // Whatever else may listen there is not waited for.
    await answerInTime(client`select 1`);
    await client.begin(async (lock) => {
      await lock`select pg_advisory_xact_lock(${migrationLock})`;
      await migrate(drizzle(client), { migrationsFolder });
    });
  } finally {
    await client.end({ timeout: 1 });
  }
}

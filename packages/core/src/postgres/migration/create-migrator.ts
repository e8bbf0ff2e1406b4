import { databaseCode } from '../../error-causes.ts';

/** A missing table causes a new migration at most once in this many milliseconds. */
const migrationInterval = 1_000;

/** The SQLSTATE for a table that does not exist. */
const undefinedTable = '42P01';

/** Makes functions that run `migrate` when it is needed. Two migrations never run at the same time. */
export function createMigrator(migrate: () => Promise<void>) {
  /** The running migration or the last successful migration. */
  let migration: Promise<void> | undefined;
  let isRunning = false;
  let noticedAt = Number.NEGATIVE_INFINITY;

  const run = async () => {
    isRunning = true;
    try {
      await migrate();
    } catch (error) {
      migration = undefined;
      throw error;
    } finally {
      isRunning = false;
    }
  };

  return {
    /** Waits for the migration. After a failed migration, each call migrates again. */
    migrated: (): Promise<void> => (migration ??= run()),

    /**
     * Migrates again if `error` says that a table is missing, because somebody may have replaced the database.
     */
    notice(error: unknown): void {
      const isDue = performance.now() - noticedAt > migrationInterval;
      if (isRunning || !isDue || databaseCode(error) !== undefinedTable) return;
      noticedAt = performance.now();
      migration = run();
      migration.catch(() => {});
    },
  };
}

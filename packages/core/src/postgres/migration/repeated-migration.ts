import { setTimeout } from 'node:timers/promises';
import { databaseCode } from '../../error-causes.ts';

/** A missing table causes a new migration at most once in this many milliseconds. */
const migrationInterval = 1_000;

/** The pause between a failed migration and the next attempt, in milliseconds. */
const retryDelay = 500;

/** The SQLSTATE for a table that does not exist. */
const undefinedTable = '42P01';

/** Migrates a database immediately, and again when a table is missing. Repeats a failed migration. */
export class RepeatedMigration {
  readonly #migrate: () => Promise<void>;
  #current: Promise<void>;
  #isRunning = false;
  #isClosed = false;
  #startedAt = Number.NEGATIVE_INFINITY;

  constructor(migrate: () => Promise<void>) {
    this.#migrate = migrate;
    this.#current = migrate();
  }

  /** The promise of the current attempt. If the migration fails, the promise is rejected with the error. */
  get done(): Promise<void> {
    return this.#current;
  }

  /**
   * Repeats a failed migration until the migration succeeds. Does nothing if an earlier call of `retry` is
   * still running.
   */
  async retry(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    while ((await isRejected(this.#current)) && !this.#isClosed) {
      this.#current = setTimeout(retryDelay).then(this.#migrate);
    }
    this.#isRunning = false;
  }

  /**
   * Migrates again if `error` says that a table is missing, because somebody may have replaced the database.
   */
  notice(error: unknown): void {
    const isDue = performance.now() - this.#startedAt > migrationInterval;
    if (this.#isRunning || !isDue || databaseCode(error) !== undefinedTable) return;
    this.#startedAt = performance.now();
    this.#current = this.#migrate();
    void this.retry();
  }

  close(): void {
    this.#isClosed = true;
  }
}

function isRejected(promise: Promise<void>): Promise<boolean> {
  return promise.then(
    () => false,
    () => true,
  );
}

/** If a write takes longer than this number of milliseconds, the disk of the database is slow. */
const slowAfter = 500;

/** Judges by the writes of a batcher whether the disk of the database is slow. A long wait for a lock may look the same. */
export class Disk {
  /** The duration in ms of the last write that succeeded. 0 after an error, which a lock may have caused. */
  #took = 0;
  #succeededAt = 0;

  /** Measures a write. Settles as `write` does. */
  async measure(write: () => Promise<void>): Promise<void> {
    const startedAt = performance.now();
    await write().catch((error) => {
      this.#took = 0;
      throw error;
    });
    this.#succeededAt = performance.now();
    this.#took = this.#succeededAt - startedAt;
  }

  /** Commits wait for the disk one after the other. A second write would wait twice as long for a slow disk. */
  get isSlow(): boolean {
    return this.#took > slowAfter;
  }

  /**
   * Whether no write has succeeded since a running batch started. The disk may be slow, or a row may be locked. On a
   * slow disk, the WAL writer of Postgres delays a further write by one more flush.
   */
  mayBeSlow(running: readonly { readonly startedAt: number }[]): boolean {
    return running.some(({ startedAt }) => startedAt > this.#succeededAt);
  }
}

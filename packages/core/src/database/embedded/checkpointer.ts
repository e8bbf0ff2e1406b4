import type { PGlite } from '@electric-sql/pglite';

/** Bytes of log after the last checkpoint, at most. PGlite replays them when it opens after a crash. */
const maxLog = 256 * 2 ** 20;

/** Milliseconds between two looks at the log's length, at least. */
const interval = 1_000;

const logLength = `
  select pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn)::float8 as length from pg_control_checkpoint()`;

/**
 * Makes a function that is called after writes, and lets PGlite write a checkpoint when one is due.
 * Outside a server process, Postgres writes none of its own accord, so the log would grow as long
 * as the process runs.
 */
export function createCheckpointer(client: PGlite): () => Promise<void> {
  let lookedAt = performance.now();

  return async () => {
    const now = performance.now();
    if (now - lookedAt < interval) return;
    lookedAt = now;
    const { rows } = await client.query<{ length: number }>(logLength);
    if (rows[0] && rows[0].length > maxLog) await client.query('checkpoint');
  };
}

import type { PGlite } from '@electric-sql/pglite';

/**
 * A checkpoint is due after this many bytes of log. After a crash, PGlite replays the log since the
 * checkpoint.
 */
const maxLog = 128 * 2 ** 20;

/** The minimum time between two checks of the log's length, in milliseconds. */
const interval = 1_000;

/** Selects the number of bytes in the log since the last checkpoint. */
export const selectLogLength = `
  select pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn)::float8 from pg_control_checkpoint()`;

/**
 * Makes a function that must be called after each write. The function runs a checkpoint when a checkpoint is
 * due. PGlite never starts a checkpoint by itself. Without this function, the log would grow until the
 * process ends.
 */
export function createCheckpointer(client: PGlite): () => Promise<void> {
  let checkedAt = performance.now();

  return async () => {
    const now = performance.now();
    if (now - checkedAt < interval) return;
    checkedAt = now;
    const { rows } = await client.query<[number]>(selectLogLength, [], { rowMode: 'array' });
    if (rows[0] && rows[0][0] > maxLog) await client.query('checkpoint');
  };
}

import type { PGlite } from '@electric-sql/pglite';

/** Bytes of log after which a checkpoint is due. PGlite replays the log when it opens after a crash. */
const maxLog = 128 * 2 ** 20;

/** The shortest time between two checks of the log's length, in milliseconds. */
const interval = 1_000;

/** Selects the bytes of log since the last checkpoint. */
export const selectLogLength = `
  select pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn)::float8 from pg_control_checkpoint()`;

/**
 * Makes a function to call after each write. It runs a checkpoint when one is due. PGlite never
 * starts a checkpoint itself, so its log would grow as long as the process runs.
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

import type { AccessTokenTable } from './access-token-table.ts';

/**
 * Makes a function that sets the last use of an access token to now, in the background. The parameter is the
 * SHA-256 of the token. Only one statement runs at a time, so that slow statements occupy only one
 * connection. The next statement updates all tokens that were used while the previous statement ran. The
 * store drops an update that fails, because the next look-up of the token updates the time again.
 */
export function createLastUsedUpdater({
  table,
  now,
}: {
  table: Pick<AccessTokenTable, 'markUsed'>;
  now: () => number;
}): (sha256: string) => void {
  const pending = new Set<string>();
  let isRunning = false;

  return (sha256) => {
    pending.add(sha256);
    if (!isRunning) void markAll();
  };

  /** The promise is never rejected. */
  async function markAll(): Promise<void> {
    isRunning = true;
    while (pending.size > 0) {
      const batch = [...pending];
      pending.clear();
      await table.markUsed(batch, new Date(now())).catch(() => {});
    }
    isRunning = false;
  }
}

import type { AccessTokenTable } from './access-token-table.ts';

/**
 * Makes a function that takes the SHA-256 of an access token and sets the token's last use to now, in the
 * background. Only one statement runs at a time, so that slow statements occupy only one connection.
 * Meanwhile, further tokens wait for the next statement. An update that fails is dropped, because the next
 * look-up of the token updates it again.
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

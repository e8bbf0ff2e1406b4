import type { AccessTokenTable } from './access-token-table.ts';

/**
 * Makes a function that sets the last use of an access token to now, in the background. It takes the
 * token's SHA-256. One statement runs at a time, so that slow statements occupy only one connection;
 * meanwhile further tokens wait for the next statement. An update that fails is dropped: the next
 * look-up of the token repeats it.
 */
export function createUseMarker({
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

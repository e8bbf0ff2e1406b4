import type { AccessTokenTable } from './access-token-table.ts';

/**
 * Makes a function that updates the last use of an access token, by its SHA-256, in the background.
 * One statement runs at a time, so that a slow one leaves the other connections idle; further tokens
 * gather meanwhile. A failed update is dropped: the token's next use repeats it.
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

  /** Never rejects. */
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

import type { AccessTokenTable } from './access-token-table.ts';

/**
 * Makes a function that notes the use of an access token by its SHA-256, without anybody waiting for
 * it. One statement is under way at most, so that marks that hang leave the other connections free;
 * the next ones gather meanwhile. Those that fail are dropped: they come again with a later use.
 */
export function createUseMarker({
  table,
  now,
}: {
  table: Pick<AccessTokenTable, 'markUsed'>;
  now: () => number;
}): (sha256: string) => void {
  const wanted = new Set<string>();
  let isUnderWay = false;

  return (sha256) => {
    wanted.add(sha256);
    if (!isUnderWay) void markAll();
  };

  /** Never rejects. */
  async function markAll(): Promise<void> {
    isUnderWay = true;
    while (wanted.size > 0) {
      const batch = [...wanted];
      wanted.clear();
      await table.markUsed(batch, new Date(now())).catch(() => {});
    }
    isUnderWay = false;
  }
}

import type { ClusterSessions, CopySession } from '../database/database.ts';
import { createConnectToPrimary } from './connect-to-primary.ts';

/**
 * Opens a session on the primary. With `readOnly`, it may be on a read replica. A copy has a timeout only for
 * locks, because its reader may need any time.
 */
export async function openCopies(
  url: string,
  readOnly: boolean,
  cluster?: ClusterSessions,
): Promise<CopySession> {
  const timeout = Number.POSITIVE_INFINITY;
  const options = { timeout, readOnly, settings: cluster?.settings };
  const connection = await createConnectToPrimary(url, options)();
  return {
    copyOut: (select, format) =>
      connection.copyOut(`copy (${select}) to stdout (format ${format})`),
    close: () => connection.close(),
  };
}

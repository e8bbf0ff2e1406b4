import type { CopySession } from '../database.ts';
import { createConnectToPrimary } from './connect-to-primary.ts';
import type { Connection } from './connection.ts';

/**
 * Opens a session on the primary, or on a read replica when no host of the URL is a primary. It has no
 * timeout but for locks: a copy takes as long as its reader needs.
 */
export async function openCopies(url: string): Promise<CopySession> {
  const connection = await connect(url);
  return {
    copyOut: (select, format) =>
      connection.copyOut(`copy (${select}) to stdout (format ${format})`),
    close: () => connection.close(),
  };
}

async function connect(url: string): Promise<Connection> {
  const never = Number.POSITIVE_INFINITY;
  try {
    return await createConnectToPrimary(url, never)();
  } catch (error) {
    const isReplica = error instanceof Error && /is read-only$/.test(error.message);
    if (!isReplica) throw error;
    return createConnectToPrimary(url, never, true)();
  }
}

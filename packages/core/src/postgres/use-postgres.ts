import type { ClusterSessions } from '../database/database.ts';
import { databaseUnavailable, orUnavailable } from '../database/database-error.ts';
import { beforeDeadline, deadlineIn } from '../database/deadline.ts';
import { createConnectToPrimary, hostsOf } from './connect-to-primary.ts';
import type { Connection } from './connection.ts';
import { poolerForgets } from './prepared-statements.ts';

/** Milliseconds for the connection to each host. */
const connectTimeout = 3_000;

/** Milliseconds for the connections and the statements together. */
const useTimeout = 12_000;

/** A host of the URL that cannot be reached. */
export interface UnreachableHost {
  readonly name: string;
  readonly error: unknown;
}

/**
 * Uses a Postgres without migrating it; it may be read-only. Connects to every host of the URL, and
 * prefers one that accepts writes.
 *
 * @throws DatabaseSettingsError when the URL cannot be parsed, PlantStoreError `databaseUnavailable`
 *   when no host can be reached within 3 s, or the statements fail or take longer than 12 s in all
 */
export async function usePostgres<T>(
  url: string,
  use: (
    connection: Connection,
    unreachableHosts: UnreachableHost[],
    poolerWarning: string | undefined,
  ) => Promise<T>,
  cluster?: ClusterSessions,
): Promise<T> {
  const hosts = hostsOf(url);
  const until = deadlineIn(useTimeout);
  const attempts = await Promise.all(
    hosts.map(async (host) => {
      const connect = createConnectToPrimary(url, {
        hosts: [host],
        readOnly: true,
        connectTimeout,
        settings: cluster?.settings,
      });
      return connect().then(
        (connection) => ({ connection }),
        (error: unknown) => ({ name: `${host.host}:${host.port}`, error }),
      );
    }),
  );
  const connections = attempts.flatMap((each) => ('connection' in each ? each.connection : []));
  const unreachableHosts = attempts.filter((each) => 'error' in each);
  try {
    const [first] = connections;
    if (!first) throw databaseUnavailable(unreachableHosts[0]?.error);
    const primary = connections.find(({ isReadOnly }) => !isReadOnly) ?? first;
    const warning = primary.prepares ? undefined : poolerForgets;
    const used = use(primary, unreachableHosts, warning);
    return await orUnavailable(beforeDeadline(used, until));
  } finally {
    await Promise.all(connections.map((connection) => connection.close()));
  }
}

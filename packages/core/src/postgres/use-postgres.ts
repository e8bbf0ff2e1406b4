import { databaseUnavailable, orUnavailable } from '../database/database-error.ts';
import { beforeDeadline, deadlineIn } from '../database/deadline.ts';
import { createConnectToPrimary, hostsOf } from './connect-to-primary.ts';
import type { Connection } from './connection.ts';
import { poolerForgets } from './prepared-statements.ts';

/** The time limit for connecting to each host, in milliseconds. */
const connectTimeout = 3_000;

/** The time limit for the connections and the statements together, in milliseconds. */
const useTimeout = 12_000;

/** An unreachable host of the URL. */
export interface UnreachableHost {
  readonly name: string;
  readonly error: unknown;
}

/**
 * Calls `use` with a connection to a Postgres. The Postgres may be read-only, and is not migrated. Connects
 * to every host of the URL, and prefers a host that accepts writes.
 *
 * @throws DatabaseSettingsError when the URL cannot be parsed.
 * @throws PlantStoreError `databaseUnavailable` when no host is reachable within 3 s, when a statement fails,
 *   or when all statements together take longer than 12 s.
 */
export async function usePostgres<T>(
  url: string,
  use: (
    connection: Connection,
    unreachableHosts: UnreachableHost[],
    poolerWarning: string | undefined,
  ) => Promise<T>,
): Promise<T> {
  const hosts = hostsOf(url);
  const until = deadlineIn(useTimeout);
  const attempts = await Promise.all(
    hosts.map(async (host) => {
      const connect = createConnectToPrimary(url, {
        hosts: [host],
        readOnly: true,
        connectTimeout,
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

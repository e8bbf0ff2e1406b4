import type postgres from 'postgres';

interface LostSession {
  readonly host: string;
  readonly port: number;
  readonly pid: number;
  /**
   * The start time of the session. A later session may get the same process id, but has a later start time.
   */
  readonly startedAt: string;
}

/**
 * The sessions of connections that this process has closed. A session may still exist on the server, because
 * a firewall can drop a connection without telling either side. The next connection to the same server ends
 * these sessions.
 */
export class LeftBehind {
  #sessions: LostSession[] = [];

  add(session: LostSession): void {
    this.#sessions.push(session);
  }

  /** Ends the collected sessions on one server. */
  async end(
    { host, port }: Pick<LostSession, 'host' | 'port'>,
    client: postgres.Sql,
  ): Promise<void> {
    const isHere = (session: LostSession) => session.host === host && session.port === port;
    const here = this.#sessions.filter(isHere);
    if (here.length === 0) return;
    await client.unsafe(terminate, [
      `{${here.map(({ pid }) => pid)}}`,
      `{${here.map(({ startedAt }) => `"${startedAt}"`)}}`,
    ]);
    this.#sessions = this.#sessions.filter((session) => !here.includes(session));
  }
}

const terminate = `
  select pg_terminate_backend(activity.pid)
  from unnest($1::int[], $2::timestamptz[]) as lost (pid, started_at)
    join pg_stat_activity as activity on activity.pid = lost.pid and backend_start = started_at`;

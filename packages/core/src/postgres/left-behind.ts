import type postgres from 'postgres';

interface LostSession {
  readonly host: string;
  readonly port: number;
  readonly pid: number;
  /** The time at which the session started. A later session may have the same process id. */
  readonly startedAt: string;
}

/**
 * Sessions whose connections this process has closed. The server may still have these sessions, because a
 * firewall can forget a connection and tell neither side. The next connection to that server ends them.
 */
export class LeftBehind {
  #sessions: LostSession[] = [];

  add(session: LostSession): void {
    this.#sessions.push(session);
  }

  /** Ends the sessions on one server. */
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

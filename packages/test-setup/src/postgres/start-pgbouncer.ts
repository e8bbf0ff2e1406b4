import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atExit, freePort, unprivilegedUser, untilLogged, withSbin } from '../machine.ts';

const version = spawnSync('pgbouncer', ['--version'], { env: withSbin, encoding: 'utf8' });

export const hasPgBouncer = version.status === 0;

const [, major = 0, minor = 0] = /PgBouncer (\d+)\.(\d+)/.exec(version.stdout ?? '') ?? [];

/** Whether PgBouncer supports prepared statements in transaction mode. This support began in version 1.21. */
const keepsPreparedStatements = Number(major) * 100 + Number(minor) >= 121;

/**
 * Starts a PgBouncer in front of a database, with at most `poolSize` connections to it. Turns on prepared
 * statements if the installed version supports them.
 */
export async function startPgBouncer(
  databaseUrl: string,
  poolSize = 20,
  poolMode: 'transaction' | 'statement' = 'transaction',
) {
  const owner = await unprivilegedUser();
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-pgbouncer-'));
  if (owner) await chown(directory, owner.uid, owner.gid);
  const { hostname, port: databasePort, username } = new URL(databaseUrl);
  const port = await freePort();
  const settings = `[databases]
* = host=${hostname} port=${databasePort}
[pgbouncer]
pool_mode = ${poolMode}
default_pool_size = ${poolSize}
${keepsPreparedStatements ? 'max_prepared_statements = 200' : ''}
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(directory, 'users')}
`;
  await writeFile(join(directory, 'users'), `"${username}" ""\n`);
  await writeFile(join(directory, 'settings'), settings);

  const pgBouncer = spawn('pgbouncer', [join(directory, 'settings')], {
    ...owner,
    env: withSbin,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const cancelAtExit = atExit(() => pgBouncer.kill());
  await untilLogged(pgBouncer, /process up/);

  return {
    /** The URL of the database through PgBouncer. */
    url: Object.assign(new URL(databaseUrl), { port }).href,
    async stop() {
      cancelAtExit();
      const exit = once(pgBouncer, 'exit');
      pgBouncer.kill('SIGTERM');
      await exit;
      await rm(directory, { recursive: true });
    },
  };
}

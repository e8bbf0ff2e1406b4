import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { PostgresInstallation, PostgresProcess } from './postgres-process.ts';

/**
 * On Windows, the program pg_ctl runs Postgres. The program drops the privileges of an administrator, because
 * the server does not run with these privileges. Only pg_ctl can shut the server down gracefully.
 */
export function windowsPostgres(place: PostgresInstallation): PostgresProcess {
  const { binaries, directory, data, port, settings } = place;
  const control = join(dirname(binaries.postgres), 'pg_ctl');
  const log = join(directory, 'log');
  const stopAtOnce = ['stop', '-D', data, '-m', 'immediate'];

  async function run(args: string[]): Promise<void> {
    // The server would inherit a pipe, and would never close it.
    const running = spawn(control, args, { ...place.owner, cwd: directory, stdio: 'ignore' });
    const [code] = await once(running, 'exit');
    if (code === 0) return;
    const text = await readFile(log, 'utf8').catch(() => '');
    throw new Error(`pg_ctl ${args[0]} ended with code ${code}:\n${text}`);
  }

  return {
    get process(): ChildProcess {
      throw new Error('pg_ctl does not tell the process of the server');
    },
    async start() {
      const own = { port, listen_addresses: '127.0.0.1', unix_socket_directories: '', ...settings };
      const lines = Object.entries(own).map(([name, value]) => `${name} = '${value}'\n`);
      await appendFile(join(data, 'postgresql.conf'), lines.join(''));
      await run(['start', '-w', '-D', data, '-l', log]);
    },
    async halt(signal) {
      // Code 3 means that the server does not run (https://www.postgresql.org/docs/18/app-pg-ctl.html).
      if (spawnSync(control, ['status', '-D', data], { ...place.owner }).status === 3) return;
      await run(signal === 'SIGQUIT' ? stopAtOnce : ['stop', '-w', '-D', data, '-m', 'fast']);
    },
    abandon: () => void spawnSync(control, stopAtOnce, { ...place.owner }),
  };
}

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import type { User } from '../machine/unprivileged-user.ts';
import { untilLogged } from '../machine/until-logged.ts';
import type { PostgresBinaries } from './postgres-binaries.ts';

/** A Postgres server on an existing data directory. */
export interface PostgresProcess {
  readonly process: ChildProcess;
  start(): Promise<void>;
  /**
   * `SIGKILL` kills all processes of the server. `SIGQUIT` stops the server immediately, without a checkpoint.
   * `SIGINT` stops the server gracefully.
   */
  halt(signal: NodeJS.Signals): Promise<void>;
  /** Stops the server without waiting for its end, because an exit handler of this process cannot wait. */
  abandon(): void;
}

export interface PostgresInstallation {
  binaries: PostgresBinaries;
  /** The user that runs the server. Undefined means the user of this process. */
  owner: User | undefined;
  /** This directory contains the socket and the data directory. */
  directory: string;
  data: string;
  port: string;
  settings: Record<string, string>;
  /** The largest size of each file of the server, in KiB. */
  maxFileSize: number;
}

export function postgresProcess(place: PostgresInstallation): PostgresProcess {
  const { binaries, owner, directory, data, port, settings, maxFileSize } = place;
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  // `ulimit` counts blocks of 512 bytes.
  const limited = ['sh', '-c', `ulimit -f ${2 * maxFileSize} && exec "$0" "$@"`, binaries.postgres];
  const [program = '', ...command] =
    maxFileSize < Number.POSITIVE_INFINITY ? limited : [binaries.postgres];
  const places = ['-D', data, '-p', port, '-h', '127.0.0.1', '-k', directory];
  let server: ChildProcess;

  return {
    get process() {
      return server;
    },
    async start() {
      server = spawn(program, [...command, ...places, ...flags], {
        ...owner,
        cwd: directory,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      await untilLogged(server, /ready to accept (read-only )?connections/);
    },
    async halt(signal) {
      if (server.exitCode !== null || server.signalCode !== null) return;
      const ended = once(server, 'exit');
      if (signal === 'SIGKILL') await signalProcesses(server.pid ?? Number.NaN, signal);
      else server.kill(signal);
      await ended;
    },
    abandon: () => void server.kill('SIGQUIT'),
  };
}

export async function freezeProcesses(postmaster: number): Promise<() => void> {
  const processes = await signalProcesses(postmaster, 'SIGSTOP');
  return () => {
    for (const pid of processes) send(pid, 'SIGCONT');
  };
}

/** Sends a signal to the server and to its children, which it returns. */
async function signalProcesses(postmaster: number, signal: NodeJS.Signals): Promise<number[]> {
  process.kill(postmaster, 'SIGSTOP'); // A stopped postmaster starts no processes.
  const { stdout } = await promisify(execFile)('pgrep', ['-P', String(postmaster)]);
  const processes = [postmaster, ...stdout.trim().split('\n').map(Number)];
  for (const pid of processes) send(pid, signal);
  return processes;
}

/** Sends a signal to a process, which may have ended. */
function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended.
  }
}

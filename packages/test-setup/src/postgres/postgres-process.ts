import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { type User, untilLogged } from '../machine.ts';
import type { PostgresBinaries } from './postgres-binaries.ts';

/** A Postgres server on an existing data directory. */
export interface PostgresProcess {
  readonly process: ChildProcess;
  start(): Promise<void>;
  /**
   * `SIGKILL` kills all processes of the server. `SIGQUIT` stops the server immediately, without a checkpoint.
   * `SIGINT` stops the server gracefully.
   */
  halt(name: NodeJS.Signals): Promise<void>;
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
    async halt(name) {
      if (server.exitCode !== null || server.signalCode !== null) return;
      const ended = once(server, 'exit');
      if (name === 'SIGKILL') signal(await processesOf(server.pid ?? Number.NaN), name);
      else end(name);
      await ended;
    },
    abandon: () => end('SIGQUIT'),
  };

  /** Sends a signal to the server, even if a test has stopped the server with SIGSTOP. */
  function end(name: NodeJS.Signals): void {
    server.kill(name);
    server.kill('SIGCONT');
  }
}

/** Stops processes with SIGSTOP. Returns a function that continues these processes. */
export function freezeProcesses(pids: readonly number[]): () => void {
  signal(pids, 'SIGSTOP');
  return () => signal(pids, 'SIGCONT');
}

/** Stops a server's main process by SIGSTOP. Returns the ids of this process and of its child processes. */
export async function processesOf(postmaster: number): Promise<number[]> {
  process.kill(postmaster, 'SIGSTOP'); // A stopped postmaster starts no processes.
  const { stdout } = await promisify(execFile)('pgrep', ['-P', String(postmaster)]);
  return [postmaster, ...stdout.trim().split('\n').map(Number)];
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // The process has ended.
    }
  }
}

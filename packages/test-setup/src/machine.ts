import { type ChildProcess, execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { delimiter } from 'node:path';
import { promisify } from 'node:util';

const isWindows = process.platform === 'win32';

/** Windows has no signals. On Windows, `kill` ends a process immediately. */
export const hasPosixSignals = !isWindows;

/** Windows has no `sh`, which runs the example commands and scripts. */
export const hasPosixShell = !isWindows;

/** On Windows, files have no POSIX modes. */
export const hasFileModes = !isWindows;

/** Debian installs servers in /usr/sbin, which is only in root's PATH. */
export const withSbin = { PATH: [process.env['PATH'], '/usr/sbin'].join(delimiter) };

/** Lets a server listen on a free port of 127.0.0.1. Returns the URL of the server. */
export async function listen(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as { port: number }; // The cast is safe, because the server has a port.
  return `http://127.0.0.1:${port}`;
}

/** Returns a port of 127.0.0.1 on which no process listens. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const { port } = new URL(await listen(server));
  server.close();
  await once(server, 'close');
  return Number(port);
}

const callbacks = new Set<() => void>();

// All callbacks share one listener, because Node warns about more than ten listeners.
process.once('exit', () => {
  for (const callback of callbacks) callback();
});

/**
 * Calls `callback` when this process exits. So even an interrupted test run can stop the processes that it
 * has started. Returns a function that removes `callback`.
 */
export function atExit(callback: () => void): () => void {
  callbacks.add(callback);
  return () => void callbacks.delete(callback);
}

/** Kills a process when this process exits. */
export function endWithThisProcess(child: ChildProcess): void {
  child.once(
    'exit',
    atExit(() => child.kill('SIGKILL')),
  );
}

/** Waits until the standard error of a process matches a pattern. Rejects when the process exits first. */
export async function untilLogged(child: ChildProcess, pattern: RegExp): Promise<void> {
  let log = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr?.on('data', (chunk: Buffer) => {
      log += log.length < 10_000 ? chunk : '';
      if (pattern.test(String(chunk))) resolve();
    });
    child.once('error', reject);
    child.once('exit', (code) =>
      reject(new Error(`${child.spawnfile} ended with code ${code}:\n${log}`)),
    );
  });
}

export interface User {
  uid: number;
  gid: number;
}

/** Returns the user `nobody` in a process of root, because Postgres and PgBouncer do not run as root. */
export async function unprivilegedUser(): Promise<User | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string) => promisify(execFile)('id', [flag, 'nobody']);
  const [uid, gid] = await Promise.all([id('-u'), id('-g')]);
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
}

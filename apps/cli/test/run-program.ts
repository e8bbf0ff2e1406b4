import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

export interface Ended {
  /** Its exit code, or the signal that ended it. */
  code: number | NodeJS.Signals;
  stdout: string;
  stderr: string;
}

export interface Running {
  child: ChildProcessByStdio<Writable, Readable, Readable>;
  ended: Promise<Ended>;
}

export interface Surroundings {
  env: Record<string, string>;
  /** What it finds on standard input. */
  input?: string | Buffer;
  /** Flags for Node, such as a limit to its heap. */
  node?: string[];
}

/** Starts `plant-store` with these arguments, these settings and no others. */
export function start(args: string[], { env, node = [] }: Surroundings): Running {
  const child = spawn(process.execPath, [...node, main, ...args], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => {}); // It may end before it has read everything.
  const { promise: code, resolve } = Promise.withResolvers<number | NodeJS.Signals>();
  child.once('close', (code, signal) => resolve(code ?? signal ?? 'SIGKILL'));
  const ended = async () => {
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    return { code: await code, stdout, stderr };
  };
  return { child, ended: ended() };
}

/** Runs `plant-store` to its end. */
export function run(args: string[], surroundings: Surroundings): Promise<Ended> {
  const { child, ended } = start(args, surroundings);
  child.stdin.end(surroundings.input ?? '');
  return ended;
}

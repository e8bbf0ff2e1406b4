import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../../apps/api/src/main.ts', import.meta.url));

export interface StartedProcess {
  child: ChildProcess;
  /** What it has printed so far, on both streams. */
  output(): string;
  /** Resolves with the match once it has printed something that matches; rejects when it ends before. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves with its exit code, or the signal that ended it. */
  ended(): Promise<number | NodeJS.Signals>;
}

/**
 * Starts the server's program as `pnpm start` does, with these settings and no others.
 *
 * @param shell a POSIX shell's command that runs the program as `"$@"`, to redirect its output.
 */
export function startProcess(env: Record<string, string>, shell?: string): StartedProcess {
  const program = [process.execPath, main];
  const [file = '', ...args] = shell ? ['sh', '-c', shell, 'sh', ...program] : program;
  const child = spawn(file, args, {
    env: { PATH: process.env['PATH'], PORT: '0', PLANT_STORE_DRAIN_DELAY: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
      child.emit('printed');
    });
  }
  const end = once(child, 'close').then(([code, signal]) => code ?? signal);
  return {
    child,
    output: () => output,
    ended: () => end,
    async printed(pattern) {
      let match = pattern.exec(output);
      while (!match) {
        await Promise.race([once(child, 'printed'), end]);
        match = pattern.exec(output);
        if (!match && (child.exitCode ?? child.signalCode) !== null)
          throw new Error(`it ended:\n${output}`);
      }
      return match;
    },
  };
}

/**
 * Starts it on a Postgres and waits until it listens.
 *
 * @returns the settings for a program that uses it over REST, and what stops it.
 */
export async function startOnPostgres(databaseUrl: string) {
  const PLANT_STORE_TOKEN = 'secret';
  const server = startProcess({ DATABASE_URL: databaseUrl, PLANT_STORE_TOKEN });
  const [, url = ''] = await server.printed(/REST +(\S+)\/plants/);
  return {
    env: { PATH: process.env['PATH'], PLANT_STORE_URL: url, PLANT_STORE_TOKEN },
    async stop() {
      server.child.kill();
      await server.ended();
    },
  };
}

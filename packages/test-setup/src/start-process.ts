import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { endWithThisProcess } from './machine.ts';

const main = fileURLToPath(new URL('../../../apps/api/bin/server.js', import.meta.url));

/** A running process of the server's program. */
export type StartedProcess = ReturnType<typeof startProcess>;

/**
 * Starts the server's program. The server gets only the settings in `env` and defaults for tests, and reads
 * no `.env`. The server ends when this process ends.
 *
 * @param shell a command for a POSIX shell, in which `"$@"` is the program. For example, the command can
 *   redirect the program's output.
 */
export function startProcess(env: Record<string, string>, shell?: string) {
  const program = [process.execPath, main];
  const [file = '', ...args] = shell ? ['sh', '-c', shell, 'sh', ...program] : program;
  const child = spawn(file, args, {
    cwd: tmpdir(), // A `.env` of the current directory would change the settings of a test.
    env: {
      PATH: process.env['PATH'],
      PORT: '0',
      PLANT_STORE_DRAIN_DELAY_MS: '0',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  endWithThisProcess(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
      child.emit('printed');
    });
  }
  let hasEnded = false;
  const exit = once(child, 'close').then(([code, signal]): number | NodeJS.Signals => {
    hasEnded = true; // The event `close` comes after the whole output.
    return code ?? signal;
  });
  /** Resolves when the output matches a pattern. Rejects when the process exits first. */
  const printed = async (pattern: RegExp) => {
    let match = pattern.exec(output);
    while (!match) {
      await Promise.race([once(child, 'printed'), exit]);
      match = pattern.exec(output);
      if (!match && hasEnded) throw new Error(`the process exited:\n${output}`);
    }
    return match;
  };
  return {
    child,
    /** The standard output and the standard error of the process so far. */
    output: () => output,
    printed,
    /** Resolves with the URL of the server when the server listens. */
    listening: async () => (await printed(/REST +(http:\S+)\/plants/))[1] ?? '',
    /** Resolves with the exit code, or with the signal that killed the process. */
    ended: () => exit,
  };
}

/**
 * Starts the server's program on a Postgres, and waits until the server listens. Returns the environment
 * variables for a client program, and a function that stops the server.
 */
export async function startOnPostgres(databaseUrl: string, shell?: string) {
  const PLANT_STORE_TOKEN = 'secret-of-the-tests';
  const server = startProcess({ DATABASE_URL: databaseUrl, PLANT_STORE_TOKEN }, shell);
  return {
    env: {
      PATH: process.env['PATH'],
      PLANT_STORE_URL: await server.listening(),
      PLANT_STORE_TOKEN,
    },
    async stop() {
      server.child.kill();
      await server.ended();
    },
  };
}

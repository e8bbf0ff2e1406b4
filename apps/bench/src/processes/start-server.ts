import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { endWithThisProcess } from '@plant-store/test-setup';

export type StartedServer = Awaited<ReturnType<typeof startServer>>;

/** Each server gets these settings and its own settings. No server reads the repository's `.env`. */
const settings = {
  PATH: process.env['PATH'],
  PLANT_STORE_ENV_FILE: devNull,
  PLANT_STORE_DRAIN_DELAY_MS: '0',
  PORT: '0',
};

/**
 * Starts a server program, and waits until the program prints its URL. The output goes to a file, because
 * reading the log in this process would take CPU time from the measurement.
 */
export async function startServer(program: string, env: Record<string, string>) {
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-bench-'));
  const log = join(directory, 'log');
  const file = await open(log, 'a');
  const child = spawn(process.execPath, [program], {
    env: { ...settings, ...env },
    stdio: ['ignore', file.fd, file.fd],
  });
  await file.close();
  endWithThisProcess(child);
  const exited = once(child, 'exit');
  for (;;) {
    const hasExited = child.exitCode !== null || child.signalCode !== null;
    const text = await readFile(log, 'utf8');
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(text) ?? [];
    if (url) return { url, pid: child.pid ?? Number.NaN, stop };
    if (hasExited) throw new Error(`the server ${program} did not start:\n${text}`);
    await setTimeout(5);
  }

  /** Sends SIGTERM and resolves when the process has ended. */
  async function stop(): Promise<void> {
    child.kill('SIGTERM');
    await exited;
    await rm(directory, { recursive: true, force: true });
  }
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, watch } from 'node:fs';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';

export interface StartedServer {
  readonly url: string;
  readonly pid: number;
  /** Sends SIGTERM and resolves when the process has ended. */
  stop(): Promise<void>;
}

/**
 * Starts a server program and waits until it prints its URL. Its output goes to a file, as under a
 * supervisor: reading the log in this process would take CPU time from the measurement.
 */
export async function startServer(
  program: string,
  env: Record<string, string>,
): Promise<StartedServer> {
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-bench-'));
  const log = join(directory, 'log');
  const file = await open(log, 'a');
  const child = spawn(process.execPath, [program], {
    env: { PATH: process.env['PATH'], PLANT_STORE_ENV_FILE: devNull, PORT: '0', ...env },
    stdio: ['ignore', file.fd, file.fd],
  });
  const removal = { recursive: true, force: true };
  const killChild = () => {
    child.kill('SIGKILL');
    rmSync(directory, removal);
  };
  process.once('exit', killChild);
  const exited = once(child, 'exit').finally(async () => {
    process.off('exit', killChild);
    await file.close();
  });

  const url = await waitForUrl(log, exited).catch((cause) => {
    throw new Error(`the server ${program} did not start`, { cause });
  });
  return {
    url,
    pid: child.pid ?? Number.NaN,
    async stop() {
      child.kill('SIGTERM');
      await exited;
      await rm(directory, removal);
    },
  };
}

async function waitForUrl(log: string, exited: Promise<unknown>): Promise<string> {
  let hasExited = false;
  const exit = exited.then(() => {
    hasExited = true;
  });
  const watcher = watch(log);
  try {
    for (;;) {
      const change = once(watcher, 'change');
      const isComplete = hasExited;
      const text = await readFile(log, 'utf8');
      const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(text) ?? [];
      if (url) return url;
      if (isComplete) throw new Error(`the process exited before it printed its URL:\n${text}`);
      await Promise.race([change, exit]);
    }
  } finally {
    watcher.close();
  }
}

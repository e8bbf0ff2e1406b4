import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, watch } from 'node:fs';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface StartedServer {
  readonly url: string;
  readonly pid: number;
  /** Tells it to stop, and resolves when it has. */
  stop(): Promise<void>;
}

/**
 * Starts a server's program and waits until it has printed its URL. What it prints goes to a file,
 * as under a supervisor: reading its log here would take time from what is measured.
 */
export async function startServer(
  program: string,
  env: Record<string, string>,
): Promise<StartedServer> {
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-bench-'));
  const log = join(directory, 'log');
  const file = await open(log, 'a');
  const child = spawn(process.execPath, [program], {
    env: { PATH: process.env['PATH'], PORT: '0', ...env },
    stdio: ['ignore', file.fd, file.fd],
  });
  const remove = { recursive: true, force: true };
  const stopWithUs = () => {
    child.kill('SIGKILL');
    rmSync(directory, remove);
  };
  process.once('exit', stopWithUs);
  const ended = once(child, 'exit').finally(async () => {
    process.off('exit', stopWithUs);
    await file.close();
  });

  const url = await urlPrinted(log, ended).catch((cause) => {
    throw new Error(`the server ${program} did not start`, { cause });
  });
  return {
    url,
    pid: child.pid ?? Number.NaN,
    async stop() {
      child.kill('SIGTERM');
      await ended;
      await rm(directory, remove);
    },
  };
}

async function urlPrinted(log: string, ended: Promise<unknown>): Promise<string> {
  let hasEnded = false;
  const end = ended.then(() => {
    hasEnded = true;
  });
  const watcher = watch(log);
  try {
    for (;;) {
      const change = once(watcher, 'change');
      const isLast = hasEnded;
      const text = await readFile(log, 'utf8');
      const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(text) ?? [];
      if (url) return url;
      if (isLast) throw new Error(`it ended before it printed its URL:\n${text}`);
      await Promise.race([change, end]);
    }
  } finally {
    watcher.close();
  }
}

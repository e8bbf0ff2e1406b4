import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { atExit, endWithThisProcess } from '@plant-store/test-setup';

/** A server's program: the flags of Node, and the path of its file. */
export interface Program {
  readonly flags: readonly string[];
  readonly file: string;
}

const repository = fileURLToPath(new URL('../../..', import.meta.url));

/** Returns the server of a checkout, with the flags of the checkout's script `start`. */
export async function programOf(checkout = repository): Promise<Program> {
  const { scripts } = JSON.parse(await readFile(join(checkout, 'package.json'), 'utf8'));
  const [, flags = '', file] = /^node ((?:-\S+ )*)(\S+\.[jt]s)/.exec(scripts.start) ?? [];
  if (!file) throw new Error(`${checkout}: script start must begin with node: ${scripts.start}`);
  return { flags: flags.split(' ').filter(Boolean), file: join(checkout, file) };
}

/** Checks a commit out in a temporary directory, and installs its dependencies. */
export async function checkOut(commit: string) {
  const parent = mkdtempSync(join(tmpdir(), 'plant-store-commit-'));
  const directory = join(parent, 'repository');
  const cancelAtExit = atExit(remove);
  const run = promisify(execFile);
  try {
    await run('git', ['-C', repository, 'worktree', 'add', '--detach', directory, commit]);
    const install = ['install', '--frozen-lockfile', '--prefer-offline'];
    await run('npx', ['--yes', 'pnpm', '--dir', directory, ...install]);
    return { directory, remove };
  } catch (cause) {
    remove();
    throw new Error(`the commit ${commit} cannot be built: ${cause}`, { cause });
  }

  function remove() {
    cancelAtExit();
    rmSync(parent, { recursive: true, force: true });
    spawnSync('git', ['-C', repository, 'worktree', 'prune']);
  }
}

/**
 * Starts a server, and waits until it prints its URL. The output goes to a file, because reading it in this
 * process would take CPU time from the measurement. `NODE_ENV` turns on the production mode of the peers.
 */
export async function startServer({ flags, file }: Program, env: Record<string, string>) {
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-bench-'));
  const log = await open(join(directory, 'log'), 'a');
  const settings = { PATH: process.env['PATH'], NODE_ENV: 'production', PORT: '0' };
  const ours = { PLANT_STORE_DRAIN_DELAY_MS: '0' };
  const child = spawn(process.execPath, [...flags, file], {
    cwd: directory, // This directory does not contain the `.env` of the repository.
    env: { ...settings, ...ours, PLANT_STORE_DATA_DIR: join(directory, 'data'), ...env },
    stdio: ['ignore', log.fd, log.fd],
  });
  await log.close();
  endWithThisProcess(child);
  const exited = once(child, 'exit');
  for (;;) {
    const hasExited = child.exitCode !== null || child.signalCode !== null;
    const text = await readFile(join(directory, 'log'), 'utf8');
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(text) ?? [];
    if (url) return { url, pid: child.pid ?? Number.NaN, stop };
    if (hasExited) throw new Error(`the server ${file} did not start:\n${text}`);
    await setTimeout(10);
  }

  async function stop(): Promise<void> {
    child.kill('SIGTERM');
    await exited;
    await rm(directory, { recursive: true, force: true });
  }
}

/**
 * Returns the CPU time in seconds and the resident memory in bytes of a process and its descendants. Without
 * `/proc`, both values are NaN. The CPU time of a parent includes its children that have ended.
 */
export async function usageOf(pid: number): Promise<{ cpu: number; memory: number }> {
  const read = (file: string) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
  const files = ['stat', 'status', `task/${pid}/children`];
  const [stat = '', status = '', children = ''] = await Promise.all(files.map(read));
  if (!stat) return { cpu: Number.NaN, memory: Number.NaN };
  // The second field, the name, may contain spaces. Fields 14 to 17 are CPU times in hundredths of a second.
  const times = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15);
  const own = times.reduce((sum, ticks) => sum + Number(ticks) / 100, 0);
  const [, kilobytes = 0] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? [];
  const pids = children.split(' ').filter(Boolean).map(Number);
  const descendants = await Promise.all(pids.map(usageOf));
  return {
    cpu: descendants.reduce((sum, { cpu }) => sum + (cpu || 0), own),
    memory: descendants.reduce((sum, each) => sum + (each.memory || 0), Number(kilobytes) * 1024),
  };
}

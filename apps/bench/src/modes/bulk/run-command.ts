import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { devNull } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { totalStats, treeCpuSeconds } from '../../processes/process-stats.ts';

/** A command line, and what it needs. */
export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Record<string, string>;
  /** The file for standard output. */
  readonly output?: string;
}

/** What a command took from its start to its end. */
export interface CommandRun {
  readonly seconds: number;
  /** Its own CPU time, and that of Postgres; undefined on a machine without `/proc`. */
  readonly cpuSeconds: number | undefined;
  readonly databaseCpuSeconds: number | undefined;
  /** Bytes of memory at its peak. */
  readonly memory: number | undefined;
}

/** Milliseconds between two looks at the process. */
const interval = 10;

/** @throws Error when the command fails */
export async function runCommand(
  { program, args, env, output = devNull }: Command,
  postgresPid: number | undefined,
): Promise<CommandRun> {
  const databaseCpu = () => (postgresPid === undefined ? undefined : treeCpuSeconds(postgresPid));
  const before = await databaseCpu();
  const file = await open(output, 'w');
  const start = performance.now();
  const child = spawn(program, args, {
    env: { PATH: process.env['PATH'], PLANT_STORE_ENV_FILE: devNull, ...env },
    stdio: ['ignore', file.fd, 'inherit'],
  });
  const killChild = () => child.kill('SIGKILL');
  process.once('exit', killChild);
  let isRunning = true;
  const exited = once(child, 'exit').finally(() => {
    isRunning = false;
  });
  let cpuSeconds: number | undefined;
  let memory: number | undefined;
  while (isRunning) {
    cpuSeconds = (await totalStats([child.pid ?? -1]))?.cpuSeconds ?? cpuSeconds;
    memory = (await peakMemory(child.pid ?? -1)) ?? memory;
    await Promise.race([exited, setTimeout(interval)]);
  }
  const [code] = await exited;
  const seconds = (performance.now() - start) / 1000;
  process.off('exit', killChild);
  await file.close();
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} exited with code ${code}`);
  const after = await databaseCpu();
  const databaseCpuSeconds =
    after !== undefined && before !== undefined ? after - before : undefined;
  return { seconds, cpuSeconds, databaseCpuSeconds, memory };
}

async function peakMemory(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(status) ?? [];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { devNull } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { endWithThisProcess } from '@plant-store/test-setup';
import { usageOf } from './usage.ts';

/** A command line, its environment and its output. */
export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Record<string, string>;
  /** The path of a file that gets the standard output. */
  readonly output?: string;
}

/** Runs a command. Returns its duration, CPU time and peak memory. Throws an error if the command fails. */
export async function runCommand({ program, args, env, output = devNull }: Command) {
  const file = await open(output, 'w');
  const start = performance.now();
  const child = spawn(program, args, {
    env: { PATH: process.env['PATH'], PLANT_STORE_ENV_FILE: devNull, ...env },
    stdio: ['ignore', file.fd, 'inherit'],
  });
  endWithThisProcess(child);
  const exited = once(child, 'exit');
  let peak = { cpu: Number.NaN, memory: Number.NaN };
  while (child.exitCode === null && child.signalCode === null) {
    const usage = await usageOf(child.pid ?? Number.NaN);
    if (usage.cpu >= 0) peak = { cpu: usage.cpu, memory: Math.max(usage.memory, peak.memory || 0) };
    await Promise.race([exited, setTimeout(10)]);
  }
  const [code] = await exited;
  const seconds = (performance.now() - start) / 1000;
  await file.close();
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} exited with code ${code}`);
  return { seconds, cpu: peak.cpu, megabytes: peak.memory / 1e6 };
}

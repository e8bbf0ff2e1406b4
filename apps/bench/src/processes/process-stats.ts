import { readFile } from 'node:fs/promises';

export interface ProcessStats {
  /** User and system CPU time since the process started, in seconds. */
  readonly cpuSeconds: number;
  /** Resident memory in bytes. */
  readonly memory: number;
}

/** The total usage of several processes; undefined on a machine without `/proc`. */
export async function totalStats(pids: readonly number[]): Promise<ProcessStats | undefined> {
  const all = await Promise.all(pids.map(processStats));
  return all.reduce(
    (total, stats) =>
      total &&
      stats && {
        cpuSeconds: total.cpuSeconds + stats.cpuSeconds,
        memory: total.memory + stats.memory,
      },
  );
}

/** Reads a process's usage from `/proc`; undefined on a machine without `/proc`. */
async function processStats(pid: number): Promise<ProcessStats | undefined> {
  const read = (file: string) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
  const [stat, status] = await Promise.all([read('stat'), read('status')]);
  // The process name, in parentheses, may contain spaces; utime and stime are fields 14 and 15
  // (proc_pid_stat(5)).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? [];
  if (kilobytes === undefined) return undefined;
  const ticks = Number(fields[11]) + Number(fields[12]);
  return { cpuSeconds: ticks / ticksPerSecond, memory: Number(kilobytes) * 1024 };
}

/** USER_HZ, which Linux fixes at 100 for programs. */
const ticksPerSecond = 100;

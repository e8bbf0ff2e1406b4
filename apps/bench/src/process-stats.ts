import { readFile } from 'node:fs/promises';

export interface ProcessStats {
  /** Processor time since its start, user and system, in seconds. */
  readonly cpuSeconds: number;
  /** Resident memory in bytes. */
  readonly memory: number;
}

/** What a process has used, from /proc; undefined on a machine without it. */
export async function processStats(pid: number): Promise<ProcessStats | undefined> {
  const read = (file: string) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
  const [stat, status] = await Promise.all([read('stat'), read('status')]);
  // The name, in parentheses, may hold spaces; utime and stime are fields 14 and 15 (proc_pid_stat(5)).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? [];
  if (kilobytes === undefined) return undefined;
  const ticks = Number(fields[11]) + Number(fields[12]);
  return { cpuSeconds: ticks / ticksPerSecond, memory: Number(kilobytes) * 1024 };
}

/** USER_HZ, part of Linux's interface to programs. */
const ticksPerSecond = 100;

import { readFile } from 'node:fs/promises';

export interface ProcessStats {
  /** User and system CPU time since the process started, in seconds. */
  readonly cpuSeconds: number;
  /** Resident memory in bytes. */
  readonly memory: number;
}

/**
 * The total usage of several processes: their memory, and their CPU time with that of their
 * children. Undefined on a machine without `/proc`.
 */
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

/**
 * The CPU time of a process and its children, in seconds. Children that have ended are included.
 * Undefined on a machine without `/proc`.
 */
export async function treeCpuSeconds(pid: number): Promise<number | undefined> {
  const children = await readProc(pid, `task/${pid}/children`);
  const pids = [pid, ...children.split(' ').filter(Boolean).map(Number)];
  const stats = await Promise.all(pids.map((each) => readProc(each, 'stat')));
  // Fields 14 to 17: utime, stime, and the same of the ended children.
  const ticks = stats.flatMap((stat) => fieldsOf(stat).slice(11, 15).map(Number));
  return ticks.length === 0 ? undefined : ticks.reduce((a, b) => a + b) / ticksPerSecond;
}

/** Reads a process's usage from `/proc`; undefined on a machine without `/proc`. */
async function processStats(pid: number): Promise<ProcessStats | undefined> {
  const [cpuSeconds, status] = await Promise.all([treeCpuSeconds(pid), readProc(pid, 'status')]);
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? [];
  if (cpuSeconds === undefined || kilobytes === undefined) return undefined;
  return { cpuSeconds, memory: Number(kilobytes) * 1024 };
}

/** Reads a file of a process; it is empty when the process or `/proc` does not exist. */
function readProc(pid: number, file: string): Promise<string> {
  return readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
}

/** The fields of `stat` from the third on. The second, the name, may contain spaces (proc_pid_stat(5)). */
function fieldsOf(stat: string): string[] {
  return stat === '' ? [] : stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** USER_HZ, which Linux fixes at 100 for programs. */
const ticksPerSecond = 100;

import { readFile } from 'node:fs/promises';

/** The CPU time and memory of a process and its descendants. Without `/proc`, the values are NaN. */
export interface Usage {
  /** User and system CPU time in seconds, including descendants that have ended. */
  readonly cpu: number;
  /** Resident memory in bytes. Memory that several processes share counts for each of these processes. */
  readonly memory: number;
  readonly processes: number;
}

export async function usageOf(pid: number): Promise<Usage> {
  return (await usageOfTree(pid)) ?? { cpu: Number.NaN, memory: Number.NaN, processes: Number.NaN };
}

/** Returns undefined when the process has ended. The CPU time of an ended process counts for its parent. */
async function usageOfTree(pid: number): Promise<Usage | undefined> {
  const children = (await readProc(pid, `task/${pid}/children`)).split(' ').filter(Boolean);
  // All reads run at the same time. Otherwise a child that ends between two reads could count twice.
  const [stat, status, ...descendants] = await Promise.all([
    readProc(pid, 'stat'),
    readProc(pid, 'status'),
    ...children.map((child) => usageOfTree(Number(child))),
  ]);
  if (stat === '') return undefined;
  const [, kilobytes = 0] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? [];
  const add = (of: keyof Usage, own: number) =>
    descendants.reduce((sum, each) => sum + (each?.[of] ?? 0), own);
  return {
    cpu: add('cpu', cpuSeconds(stat)),
    memory: add('memory', Number(kilobytes) * 1024),
    processes: add('processes', 1),
  };
}

/** Adds utime and stime of the process and of its ended children: fields 14 to 17 (proc_pid_stat(5)). */
function cpuSeconds(stat: string): number {
  // The second field, the name, may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const userHz = 100; // Linux reports CPU time in hundredths of a second.
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) / userHz, 0);
}

/** Reads a file of a process. Resolves with '' when the process or `/proc` does not exist. */
function readProc(pid: number, file: string): Promise<string> {
  return readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
}

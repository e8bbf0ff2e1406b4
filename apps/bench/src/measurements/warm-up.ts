import type { LoadResult } from '../load/load.ts';

/**
 * Sends the load in parts until the CPU time for a reply no longer falls: until V8 has compiled the
 * hot code and the caches are full. It ends after `longest` seconds at the latest. Without CPU times,
 * on a machine without `/proc`, it sends all of them.
 */
export async function warmUp(
  longest: number,
  { send, cpuSeconds }: WarmUpOptions,
): Promise<LoadResult[]> {
  const results: LoadResult[] = [];
  const costs: number[] = [];
  const seconds = Math.min(longest, partSeconds);
  while ((results.length + 1) * seconds <= longest && !hasSettled(costs)) {
    const before = await cpuSeconds();
    const result = await send(seconds);
    const after = await cpuSeconds();
    results.push(result);
    if (before !== undefined && after !== undefined) costs.push((after - before) / result.replies);
  }
  return results;
}

interface WarmUpOptions {
  readonly send: (seconds: number) => Promise<LoadResult>;
  readonly cpuSeconds: () => Promise<number | undefined>;
}

const partSeconds = 2;

/** Whether none of the last three costs is more than 2 % below the lowest cost before them. */
export function hasSettled(costs: readonly number[]): boolean {
  const lowestBefore = Math.min(...costs.slice(0, -3));
  return costs.length > 3 && Math.min(...costs.slice(-3)) >= 0.98 * lowestBefore;
}

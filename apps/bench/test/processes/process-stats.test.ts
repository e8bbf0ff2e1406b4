import { execFileSync } from 'node:child_process';
import { platform } from 'node:os';
import { expect, it } from 'vitest';
import { treeCpuSeconds } from '../../src/processes/process-stats.ts';

it.runIf(platform() === 'linux')('adds the CPU time of children that have ended', async () => {
  const before = (await treeCpuSeconds(process.pid)) ?? Number.NaN;
  const busy = 'const end = performance.now() + 300; while (performance.now() < end);';
  execFileSync(process.execPath, ['-e', busy]);
  const own = process.cpuUsage();
  const after = await treeCpuSeconds(process.pid);
  expect(after).toBeGreaterThan(before);
  expect(after).toBeGreaterThan((own.user + own.system) / 1e6);
});

it('knows no CPU time of a process that does not exist', async () => {
  expect(await treeCpuSeconds(2 ** 30)).toBeUndefined();
});

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { platform } from 'node:os';
import { expect, it } from 'vitest';
import { usageOf } from '../../src/processes/usage.ts';

/** Takes 0.3 s of CPU time. */
const busy = 'for (let end = process.cpuUsage().user + 3e5; process.cpuUsage().user < end;);';

it.runIf(platform() === 'linux')('adds the CPU time of children that have ended', async () => {
  const { cpu: before } = await usageOf(process.pid);
  execFileSync(process.execPath, ['-e', busy]);
  const own = process.cpuUsage();
  const { cpu: after } = await usageOf(process.pid);
  expect(after).toBeGreaterThan(before + 0.3);
  expect(after).toBeGreaterThan((own.user + own.system) / 1e6);
});

it.runIf(platform() === 'linux')('adds the usage of the whole process group', async () => {
  // A worker ends when its server closes its standard input.
  const worker = `${busy} console.log(process.memoryUsage.rss()); process.stdin.resume();`;
  const server = `
    const { spawn } = require('node:child_process');
    const options = { stdio: ['pipe', 'inherit', 'inherit'] };
    for (let i = 0; i < 2; i++) spawn(process.execPath, ['-e', process.argv[1]], options);
  `;
  const child = spawn(process.execPath, ['-e', server, worker], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const sizes: number[] = [];
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    sizes.push(...String(chunk).trim().split('\n').map(Number));
    if (sizes.length === 2) break;
  }
  const { cpu, memory } = await usageOf(child.pid ?? expect.fail());
  child.kill();
  await once(child, 'exit');
  expect(cpu).toBeGreaterThan(0.6);
  expect(memory).toBeGreaterThan(0.9 * sizes.reduce((a, b) => a + b));
});

it('knows no usage of a process that does not exist', async () => {
  expect(await usageOf(2 ** 30)).toEqual({ cpu: Number.NaN, memory: Number.NaN });
});

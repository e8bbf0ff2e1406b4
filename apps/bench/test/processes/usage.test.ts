import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { platform } from 'node:os';
import { expect, it } from 'vitest';
import { usageOf } from '../../src/processes/usage.ts';

/** A program that takes 0.3 s of CPU time. */
const busy = `
  const end = process.cpuUsage().user + 3e5;
  while (process.cpuUsage().user < end) for (let i = 0; i < 1e6; i++);
`;

it.runIf(platform() === 'linux')('adds the CPU time of children that have ended', async () => {
  const { cpu: before } = await usageOf(process.pid);
  execFileSync(process.execPath, ['-e', busy]);
  const own = process.cpuUsage();
  const { cpu: after } = await usageOf(process.pid);
  expect(after).toBeGreaterThan(before + 0.3);
  expect(after).toBeGreaterThan((own.user + own.system) / 1e6);
});

it.runIf(platform() === 'linux')('adds the usage of the whole process group', async () => {
  // A worker ends when the server closes the worker's standard input.
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
  const { cpu, memory, processes } = await usageOf(child.pid ?? expect.fail());
  child.kill();
  await once(child, 'exit');
  expect(processes).toBe(3);
  expect(cpu).toBeGreaterThan(0.6);
  // Linux may have reclaimed unused memory, so the measured memory can be smaller than the sum of `sizes`.
  expect(memory).toBeGreaterThan(0.5 * sizes.reduce((a, b) => a + b));
});

it('returns NaN for a process that does not exist', async () => {
  expect(await usageOf(2 ** 30)).toEqual({
    cpu: Number.NaN,
    memory: Number.NaN,
    processes: Number.NaN,
  });
});

it.runIf(platform() === 'linux')(
  'counts a child that has ended while its parent does not wait for it',
  async () => {
    // The shell becomes the program `sleep`, which never waits for its child. So the child stays a zombie.
    const script = `"$0" -e "$1" & exec sleep 60`;
    const child = spawn('sh', ['-c', script, process.execPath, busy], { stdio: 'ignore' });
    const pid = child.pid ?? expect.fail();
    const children = async () => readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
    const stateOf = async (id: string) => readFile(`/proc/${Number(id)}/stat`, 'utf8');
    await expect.poll(async () => stateOf(await children())).toContain(') Z ');
    const { cpu } = await usageOf(pid);
    child.kill();
    await once(child, 'exit');
    expect(cpu).toBeGreaterThan(0.3);
  },
);

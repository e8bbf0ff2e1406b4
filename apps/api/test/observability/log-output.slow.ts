import { createReadStream } from 'node:fs';
import { open, readFile, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  createDatabase,
  freePort,
  hasDevFull,
  hasFileSizeLimit,
  hasPosixSignals,
  hasScript,
  type StartedProcess,
} from '@plant-store/test-setup';
import { beforeEach, describe, expect, inject, it, vi } from 'vitest';
import {
  inTerminal,
  runInShell,
  startProgram,
  stopProgram,
  temporaryDirectory,
} from '../fixtures/program.ts';
import { readPrometheusText } from '../fixtures/prometheus-text.ts';

let server: StartedProcess;
let url: string;
let directory: string;

beforeEach(async () => {
  directory = await temporaryDirectory();
});

/** Starts the server, and waits until the server responds. `shell` is a command that starts the server. */
async function start(shell?: string, env: Record<string, string> = {}): Promise<void> {
  const PORT = String(await freePort());
  const DATABASE_URL = await createDatabase(inject('postgresUrl'));
  server = startProgram({ PORT, DATABASE_URL, ...env }, shell);
  url = `http://127.0.0.1:${PORT}`;
  await vi.waitFor(async () => expect((await fetch(`${url}/livez`)).status).toBe(200));
}

/** Sends requests until the log lines of the requests have `bytes` bytes. Returns the number of requests. */
async function logAtLeast(bytes: number): Promise<number> {
  const requests = Math.ceil(bytes / lineLength);
  for (let sent = 0; sent < requests; ) {
    const next = Array.from({ length: Math.min(100, requests - sent) }, () => fetch(url + path));
    for (const { status } of await Promise.all(next)) expect(status).toBe(404);
    sent += next.length;
  }
  return requests;
}

/** The longest path that the log does not shorten. */
const path = `/${'x'.repeat(199)}`;

/** The smallest length of a log line with this path, in characters. */
const lineLength = 400;

/** Returns the number of requests with this path in a log. */
const logged = (log: string) =>
  log.match(/(?:"path":"\/x{199}","status":|GET \/x{199} )404/g)?.length ?? 0;

/** Returns the number of lost lines that a log reports. */
const lost = (log: string) =>
  [...log.matchAll(/"lost":(\d+),/g)].reduce((sum, [, count]) => sum + Number(count), 0);

async function makePipe(name: string): Promise<string> {
  const path = join(directory, name);
  await runInShell(`mkfifo ${path}`);
  return path;
}

/** Environment variables that stop the clock of a process, so that the process reaches no time limit. */
const stoppedClock = {
  NODE_OPTIONS: '--import=data:text/javascript,performance.now=()=>0',
};

const stop = () => stopProgram(server);

// Only Linux has `/dev/full`.
it.runIf(hasDevFull)('responds and stops when the log cannot be written', async () => {
  await start('exec "$@" > /dev/full');
  await logAtLeast(50_000);
  expect(await stop()).toBe(0);
});

// The unit of `ulimit -f` differs between systems. This test uses the unit of Linux.
it.runIf(hasFileSizeLimit)(
  'writes all waiting log lines as soon as the disk has space again',
  async () => {
    const log = join(directory, 'log');
    const limit = 20 * 512; // A write beyond the limit of the file size fails, as on a full disk.
    await start(`ulimit -f ${limit / 512} && exec "$@" >> ${log}`);
    await logAtLeast(2 * limit);
    await vi.waitFor(async () => expect((await stat(log)).size).toBe(limit));
    const before = await readFile(log, 'utf8');

    // The server still has more log lines than fit into the emptied file.
    await truncate(log);
    await vi.waitFor(async () => expect((await stat(log)).size).toBe(limit));
    const after = await readFile(log, 'utf8');
    await truncate(log);
    expect(await stop()).toBe(0);

    const lines = (before + after + (await readFile(log, 'utf8'))).match(/^\{.*$/gm) ?? [];
    expect(logged(lines.join())).toBe(Math.ceil((2 * limit) / lineLength));
    expect(JSON.parse(lines.at(-1) ?? '').msg).toBe('stopped');
  },
);

// On Windows, a pipe blocks the process that writes, and a process cannot handle signals.
it.runIf(hasPosixSignals)('responds and stops when nobody reads the output', async () => {
  await start();
  server.child.stdout?.pause();
  await logAtLeast(1_000_000);
  server.child.kill('SIGTERM');
  await vi.waitFor(() => expect(server.child.exitCode).toBe(0));
});

it.runIf(hasPosixSignals)('prints every line before the exit, even to a slow reader', async () => {
  await start(undefined, stoppedClock);
  server.child.stdout?.pause();
  const requests = await logAtLeast(1_000_000);
  server.child.stdout?.resume();
  expect(await stop()).toBe(0);
  expect(logged(server.output())).toBe(requests);
  expect(server.output()).toMatch(/"msg":"stopped"}\n$/);
});

it.runIf(hasPosixSignals)(
  'counts the log lines that are lost because nobody reads them in time',
  async () => {
    const metricsPort = String(await freePort());
    await start(undefined, { PLANT_STORE_METRICS_PORT: metricsPort, ...stoppedClock });
    server.child.stdout?.pause();
    const requests = await logAtLeast(10 * 2 ** 20);
    const { samples } = readPrometheusText(
      await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text(),
    );
    server.child.stdout?.resume();
    await server.printed(/log lines were lost/);
    expect(await stop()).toBe(0);
    expect(lost(server.output())).toBeGreaterThan(0);
    expect(samples.get('plant_store_log_lines_lost_total')).toBe(lost(server.output()));
    expect(logged(server.output()) + lost(server.output())).toBe(requests);
  },
);

describe.runIf(hasPosixSignals)('a server whose log is on a disk that stalls', () => {
  const stalledDisk = fileURLToPath(new URL('../fixtures/stalled-disk.ts', import.meta.url));
  let disk: string;

  beforeEach(async () => {
    disk = await makePipe('disk');
    await start(`exec "$@" > ${join(directory, 'log')}`, {
      NODE_OPTIONS: `--import=${stalledDisk}`,
      STALLED_DISK: disk,
    });
  });

  it('responds, and writes every line when the disk works again', async () => {
    const requests = await logAtLeast(1_000_000);
    let log = '';
    const reader = createReadStream(disk, 'utf8').on('data', (text) => {
      log += text;
    });
    await vi.waitFor(() => expect(logged(log)).toBe(requests));
    expect(await stop()).toBe(0);
    await vi.waitFor(() => expect(log).toMatch(/"msg":"stopped"}\n$/));
    reader.destroy();
  });

  it('exits although one of its threads waits for the disk', async () => {
    await logAtLeast(1_000_000);
    expect(await stop()).toBe('SIGKILL');
  });
});

// The command `script` runs a program in a terminal.
it.runIf(hasScript)('responds while a user has stopped the terminal with Ctrl-S', async () => {
  const keys = await makePipe('keys');
  const keyboard = await open(keys, 'r+'); // With O_WRONLY, `open` would wait for a reader.
  await start(`${inTerminal} < ${keys}`);
  await server.printed(/The plant store is open/);
  await keyboard.write('\x13');
  let requests = 0;
  while (requests - logged(server.output()) < 100) requests += await logAtLeast(100_000);
  await keyboard.write('\x11');
  await vi.waitFor(() => expect(logged(server.output())).toBe(requests));
  await keyboard.write('\x03');
  expect(await server.ended()).toBe(0);
  await keyboard.close();
});

import { mkdtemp, readFile, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createDatabase,
  freePort,
  hasDevFull,
  hasFileSizeLimit,
  hasPosixSignals,
  type StartedProcess,
  startProcess,
} from '@plant-store/test-setup';
import { afterEach, beforeEach, expect, inject, it, vi } from 'vitest';

let server: StartedProcess;
let url: string;
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plant-store-log-'));
});

afterEach(async () => {
  server.child.kill('SIGKILL');
  await rm(directory, { recursive: true });
});

/** Starts the server, in this shell command if one is given, and waits until it serves. */
async function start(shell?: string): Promise<void> {
  const PORT = String(await freePort());
  server = startProcess({ PORT, DATABASE_URL: await createDatabase(inject('postgresUrl')) }, shell);
  url = `http://127.0.0.1:${PORT}`;
  await vi.waitFor(async () => expect((await fetch(`${url}/livez`)).status).toBe(200), 10_000);
}

/** Sends requests until the server has logged at least this many bytes. */
async function logAtLeast(bytes: number): Promise<void> {
  const path = `/${'x'.repeat(8_000)}`;
  for (let i = 0; i < bytes / path.length; i++) {
    expect((await fetch(url + path)).status).toBe(404);
  }
}

const stop = () => {
  server.child.kill('SIGTERM');
  return server.ended();
};

// Only Linux has `/dev/full`.
it.runIf(hasDevFull)('serves and stops when no log line can be written', async () => {
  await start('exec "$@" > /dev/full');
  await logAtLeast(50_000);
  expect(await stop()).toBe(0);
});

// Only on Linux is the unit of `ulimit -f` known.
it.runIf(hasFileSizeLimit)(
  'writes the waiting log lines when the disk has space again',
  async () => {
    const log = join(directory, 'log');
    const limit = 20 * 512; // A write beyond the limit fails as it does on a full disk.
    await start(`ulimit -f ${limit / 512} && exec "$@" >> ${log}`);
    await logAtLeast(2 * limit);
    await vi.waitFor(async () => expect((await stat(log)).size).toBe(limit));
    const before = await readFile(log, 'utf8');

    // The waiting lines need more space than the emptied file has.
    await truncate(log);
    await vi.waitFor(async () => expect((await stat(log)).size).toBe(limit));
    const after = await readFile(log, 'utf8');
    await truncate(log);
    expect(await stop()).toBe(0);

    const lines = (before + after + (await readFile(log, 'utf8'))).match(/^\{.*$/gm) ?? [];
    const logged = lines.map((line) => JSON.parse(line));
    expect(logged.filter(({ status }) => status === 404)).toHaveLength(
      Math.ceil((2 * limit) / 8_001),
    );
    expect(logged.at(-1).msg).toBe('stopped');
  },
);

// On Windows a pipe blocks the writer, and there are no signals that a process can handle.
it.runIf(hasPosixSignals)('serves and stops when nobody reads its output', async () => {
  await start();
  server.child.stdout?.pause();
  await logAtLeast(1_000_000);
  server.child.kill('SIGTERM');
  await vi.waitFor(() => expect(server.child.exitCode).toBe(0), 10_000);
});

it.runIf(hasPosixSignals)('prints every line before it exits, even to a slow reader', async () => {
  await start();
  server.child.stdout?.pause();
  await logAtLeast(1_000_000);
  server.child.stdout?.resume();
  expect(await stop()).toBe(0);
  expect(server.output().match(/"path":"\/x{8000}"/g)).toHaveLength(125);
  expect(server.output()).toMatch(/"msg":"stopped"}\n$/);
});

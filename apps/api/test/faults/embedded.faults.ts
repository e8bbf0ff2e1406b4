import { execFile } from 'node:child_process';
import { mkdtemp, rm, statfs, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PGlite } from '@electric-sql/pglite';
import { startAcknowledgedLoad } from '@plant-store/test-setup';
import { expect, it, onTestFinished, vi } from 'vitest';
import {
  type Served,
  serve,
  startProgram,
  stopProgram,
  temporaryDirectory,
} from '../fixtures/program.ts';
import { get, post } from '../fixtures/surfaces.ts';
import { hang } from './store-under-load.ts';
import { expectStored, type Row } from './stored-plants.ts';

const run = promisify(execFile);

/** A fault of the disk with the data directory of an embedded database. */
interface DiskFault {
  directory: string;
  /** Causes the fault for the server with this process id. */
  cause(pid: number): Promise<unknown>;
  end(pid: number): Promise<unknown>;
  /** The reason that the log must contain. */
  reason: RegExp;
  /** The error message that every create must get, or undefined when the messages may differ. */
  message?: string;
}

/**
 * The operating system limits the size of the files of the process. When a file cannot grow, the statement of
 * PGlite never ends.
 */
async function limitedFiles(): Promise<DiskFault> {
  const directory = await temporaryDirectory();
  const setLimit = (pid: number, bytes: string) =>
    run('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`]);
  return {
    directory,
    cause: (pid) => setLimit(pid, '1000000'),
    end: (pid) => setLimit(pid, 'unlimited'),
    reason: /could not write to log file .* File too large/,
  };
}

/** Another program fills the disk. */
async function fullDisk(): Promise<DiskFault> {
  const directory = await temporaryDirectory();
  await run('mount', ['-t', 'tmpfs', '-o', 'size=256m', 'tmpfs', directory]);
  onTestFinished(async () => void (await run('umount', ['--lazy', directory])));
  const filler = join(directory, 'filler');
  return {
    directory,
    async cause() {
      const { bavail, bsize } = await statfs(directory);
      await writeFile(filler, Buffer.alloc(bavail * bsize)).catch(() => {});
    },
    end: () => truncate(filler, 0),
    reason: /no room on the disk of the data directory: 0 MiB are free/,
    message:
      'the database cannot do this now (SQLSTATE 53100): nothing was written, send it again later',
  };
}

/** Returns whether this user may mount a file system. */
async function canMount(): Promise<boolean> {
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-mount-'));
  try {
    await run('mount', ['-t', 'tmpfs', 'tmpfs', directory]);
    await run('umount', [directory]);
    return true;
  } catch {
    return false;
  } finally {
    await rm(directory, { recursive: true });
  }
}

const faults: [string, () => Promise<DiskFault>, boolean][] = [
  ['its disk is full', fullDisk, await canMount()],
  ['its files cannot grow', limitedFiles, process.platform === 'linux'],
];

it.for(faults.filter(([, , isPossible]) => isPossible))(
  'a store on the embedded database responds, loses no plant and heals when %s',
  async ([, prepare]) => {
    const fault = await prepare();
    const server = await serve({ PLANT_STORE_DATA_DIR: fault.directory });
    const { pid = 0 } = server.child;
    const load = startAcknowledgedLoad(server);
    await load.acknowledged(100);

    await fault.cause(pid);
    await server.printed(fault.reason);
    expect((await fetch(`${server.url}/livez`)).status).toBe(200);
    await fault.end(pid);
    await load.acknowledged(100);

    await fault.cause(pid);
    const { outcomes } = load.seen;
    const before = outcomes['503 50300'];
    await vi.waitFor(() => expect(outcomes['503 50300']).not.toBe(before));
    await load.stop();
    if (fault.message) expect(await createPlant(server)).toMatchObject({ message: fault.message });
    expect(await stopProgram(server)).toBe(0);

    await fault.end(pid).catch(() => {});
    const database = await PGlite.create(join(fault.directory, 'postgres'));
    const { rows } = await database.query<Row>('select id::int, name, tag from plants');
    await database.close();
    expectStored(load.seen.acknowledged, rows);
    expect(Object.keys(outcomes).toSorted()).toEqual(['200', '503 50300']);
    expect(load.seen.slowest).toBeLessThan(hang);
    expect(load.seen.withoutRetryAfter).toBe(0);
  },
);

it.runIf(await canMount())('starts on a full disk, and serves the stored plants', async () => {
  const fault = await fullDisk();
  const first = await serve({ PLANT_STORE_DATA_DIR: fault.directory });
  expect(await createPlant(first)).toEqual({ name: 'Monstera' });
  await fault.cause(0);
  first.child.kill('SIGKILL');
  await first.ended();

  const second = await serve({ PLANT_STORE_DATA_DIR: fault.directory });
  const list = await get(second, '/plants');
  expect(await list.json()).toMatchObject({ plants: [{ id: -1, name: 'Monstera' }] });
  expect(await createPlant(second, 'Ficus')).toMatchObject({ message: fault.message });
  expect(await stopProgram(second)).toBe(0);
});

it.runIf(await canMount())('names a full disk on which the database cannot be opened', async () => {
  const { directory, cause } = await fullDisk();
  const first = await serve({ PLANT_STORE_DATA_DIR: directory });
  expect(await stopProgram(first)).toBe(0);
  await cause(0);

  const second = startProgram({ PLANT_STORE_DATA_DIR: directory });
  expect(await second.ended()).toBe(1);
  expect(second.output()).toContain(
    '0 MiB are free, and the embedded database needs 64 MiB): free some',
  );
});

/** Creates a plant, and returns the body of the response. */
async function createPlant(server: Served, name = 'Monstera'): Promise<unknown> {
  return (await post(server, '/plants', JSON.stringify({ id: -1, name }))).json();
}

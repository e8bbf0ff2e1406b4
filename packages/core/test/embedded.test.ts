import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, rm, stat, statfs, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { endWithThisProcess, hasFileModes, hasPosixSignals } from '@plant-store/test-setup';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { openPlantStore, openTestStore } from '../src/index.ts';
import { openAnother } from './fixtures/open-store.ts';
import { newPlants } from './fixtures/plants.ts';
import { embedded } from './fixtures/profiles.ts';

const run = promisify(execFile);

async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-embedded-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** Makes the arguments of a Node process that opens a store and runs a program with the store. */
const argumentsOf = (dataDirectory: string, program: string) => [
  '--max-semi-space-size=1', // Without this flag, garbage could use up to 100 MB.
  '--input-type=module',
  '--eval',
  `import { openPlantStore } from ${JSON.stringify(new URL('../src/index.ts', import.meta.url))};
   const store = await openPlantStore({ dataDirectory: ${JSON.stringify(dataDirectory)} });
   ${program}`,
];

/** Starts a process with a store. `lines` has the lines that the process has printed so far. */
async function startProcess(dataDirectory: string, program: string) {
  const child = spawn(process.execPath, argumentsOf(dataDirectory, program), {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  endWithThisProcess(child);
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  reader.on('line', (line) => lines.push(line));
  await once(reader, 'line');
  return {
    lines,
    pid: child.pid,
    signal: (name: NodeJS.Signals) => child.kill(name),
    async kill() {
      const exit = once(child, 'close');
      child.kill('SIGKILL');
      await exit;
    },
  };
}

const writing = `
  let id = 0n;
  const write = async () => {
    for (;;) {
      const plant = { id: id++, name: 'x' };
      await store.create(plant);
      console.log(String(plant.id));
      if (plant.id % 5n === 4n && (await store.delete(plant.id - 2n))) console.log('-' + (plant.id - 2n));
    }
  };
  await Promise.all(Array.from({ length: 20 }, write));`;

describe('a process that is killed', () => {
  it('loses no acknowledged create and no acknowledged delete', async () => {
    const { options, remove } = await embedded.create();
    onTestFinished(remove);
    for (let i = 0; i < 2; i++) {
      const child = await startProcess(options.dataDirectory, writing);
      await expect.poll(() => child.lines.length, { interval: 1 }).toBeGreaterThan(400);
      await child.kill();
      const store = await openPlantStore(options);
      const deleted = new Set(child.lines.filter((line) => line.startsWith('-')));
      for (const line of child.lines) {
        if (line.startsWith('-')) {
          expect(await store.get(BigInt(line.slice(1))), line).toBeUndefined();
        } else if (!deleted.has(`-${line}`) && BigInt(line) % 5n !== 2n) {
          expect(await store.get(BigInt(line)), line).toBeDefined();
        }
      }
      await store.close();
    }
  });
});

describe('a data directory', () => {
  it('allows only one process, and the error names that process even while it is suspended', async () => {
    const { options, remove } = await embedded.create();
    onTestFinished(remove);
    const child = await startProcess(
      options.dataDirectory,
      "console.log('open'); setInterval(() => {}, 1000);",
    );
    if (hasPosixSignals) child.signal('SIGSTOP');
    await expect(openPlantStore(options)).rejects.toMatchObject({
      name: 'DataDirectoryError',
      message: expect.stringContaining(`is in use by process ${child.pid}, started `),
    });
    await child.kill();
    const store = await openAnother(options);
    await expect(openPlantStore(options)).rejects.toThrow(`process ${process.pid}`);
    expect(await store.list({ limit: 1 })).toEqual({ plants: [] });
  });

  it('is created and opened with bounded memory, and only its owner can use it', async () => {
    const directory = join(await newDirectory(), 'below', 'data');
    const program = `
      for (let id = 1; id <= 300; id++) await store.create({ id, name: 'Monstera deliciosa' });
      await store.close();
      console.log(process.resourceUsage().maxRSS);`;
    const peak = async () =>
      Number((await run(process.execPath, argumentsOf(directory, program))).stdout) / 1024;
    expect(await peak()).toBeLessThan(700);
    expect(await peak()).toBeLessThan(350);
    if (hasFileModes) expect((await stat(directory)).mode & 0o077).toBe(0);
  });

  it('below a file causes an error with the reason and the remedy', async () => {
    const file = join(await newDirectory(), 'a file');
    await writeFile(file, '');
    await expect(openPlantStore({ dataDirectory: join(file, 'below') })).rejects.toThrow(
      /^the data directory .*a file\/below cannot be used \(ENOTDIR: .*\): make it writable, or choose another directory$/,
    );
  });

  it('may have a relative path, even when the program changes its working directory', async () => {
    const { options, remove } = await embedded.create();
    const directory = process.cwd();
    const dataDirectory = relative(directory, options.dataDirectory);
    const store = await openPlantStore({ dataDirectory });
    process.chdir(tmpdir());
    onTestFinished(async () => {
      process.chdir(directory);
      await store.close();
      await remove();
    });
    await store.create({ id: 1n, name: 'Hoya' });
    expect(await store.get(1n)).toMatchObject({ name: 'Hoya' });
  });
});

it('without close, a process exits after its last call, and its plants are stored', async () => {
  const { options, remove } = await embedded.create();
  onTestFinished(remove);
  const program = "await store.create({ id: 1n, name: 'Hoya' }); console.log('created');";
  const { stdout } = await run(process.execPath, argumentsOf(options.dataDirectory, program));
  expect(stdout).toBe('created\n');
  expect(await (await openAnother(options)).get(1n)).toMatchObject({ name: 'Hoya' });
});

/** Mounts a small disk until the end of the test. Returns undefined when the user may not mount a disk. */
async function mountSmallDisk(): Promise<string | undefined> {
  const directory = await newDirectory();
  try {
    await run('mount', ['-t', 'tmpfs', '-o', 'size=256m', 'tmpfs', directory]);
  } catch {
    return undefined;
  }
  onTestFinished(async () => void (await run('umount', ['--lazy', directory])));
  return directory;
}

it('on a full disk, reads succeed and writes get an error, until the disk has room again', async () => {
  const directory = await mountSmallDisk();
  if (directory === undefined) return;
  const dataDirectory = join(directory, 'data');
  await cp(inject('dataDirectory'), dataDirectory, { recursive: true });
  const store = await openAnother({ dataDirectory });
  const [first = { id: 0n, name: '' }, second = { id: 0n, name: '' }] = newPlants(2);
  const { next } = await store.changes();
  await store.create(first);
  const filler = join(directory, 'filler');
  const { bavail, bsize } = await statfs(directory);
  await writeFile(filler, Buffer.alloc(bavail * bsize)).catch(() => {});
  const full = {
    code: 50300,
    databaseCode: '53100',
    message:
      'the database cannot do this now (SQLSTATE 53100): nothing was written, send it again later',
  };
  for (let i = 0; i < 3; i++) {
    await expect(store.create(second)).rejects.toMatchObject(full);
    await expect(store.delete(first.id)).rejects.toMatchObject({ code: 50300 });
    expect(await store.get(first.id)).toMatchObject(first);
    expect((await store.list({ limit: 10 })).plants).toMatchObject([first]);
    expect((await store.changes({ after: next })).changes).toMatchObject([{ plant: first }]);
  }
  await truncate(filler, 0);
  await expect.poll(() => store.create(second).catch(() => {})).toEqual({ name: 'x' });
  await store.close();
  const again = await openAnother({ dataDirectory });
  expect((await again.list({ limit: 10 })).plants).toMatchObject([first, second]);
});

it('each call of openTestStore opens an empty store, and close deletes the directory of the store', async () => {
  const temporary = await newDirectory();
  // Other tests may open such stores at the same time, so this test has its own temporary directory.
  for (const name of ['TMPDIR', 'TEMP']) vi.stubEnv(name, temporary);
  onTestFinished(() => void vi.unstubAllEnvs());
  const stores = await Promise.all([openTestStore(), openTestStore()]);
  for (const store of stores) {
    expect(await store.list({ limit: 10 })).toEqual({ plants: [] });
    await store.create({ id: 1n, name: 'Hoya' });
  }
  expect(await readdir(temporary)).toHaveLength(2);
  for (const store of stores) await store.close();
  expect(await readdir(temporary)).toEqual([]);
});

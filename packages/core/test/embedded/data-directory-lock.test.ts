import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasPosixSignals } from '@plant-store/test-setup';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { lockDataDirectory } from '../../src/embedded/data-directory-lock.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plant-store-lock-'));
});

afterEach(() => rm(directory, { recursive: true }));

/** Starts another process that locks the directory. The test kills that process. */
async function startHolder() {
  const source = `
    import { lockDataDirectory } from ${JSON.stringify(new URL('../../src/embedded/data-directory-lock.ts', import.meta.url).href)};
    globalThis.unlock = await lockDataDirectory(${JSON.stringify(directory)});
    console.log('locked');
    setInterval(() => {}, 1000);`;
  const holder = spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(holder.stdout, 'data');
  return holder;
}

it('rejects a second process while the first process exists, even when the first process is suspended', async () => {
  const holder = await startHolder();
  if (hasPosixSignals) holder.kill('SIGSTOP');
  await expect(lockDataDirectory(directory)).rejects.toMatchObject({
    name: 'DataDirectoryError',
    message: expect.stringContaining(
      `the data directory ${directory} is in use by process ${holder.pid}, started `,
    ),
  });
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  const unlock = await lockDataDirectory(directory);
  unlock();
});

it('rejects a second lock in the same process until the first lock is released', async () => {
  const unlock = await lockDataDirectory(directory);
  await expect(lockDataDirectory(directory)).rejects.toThrow(`process ${process.pid}`);
  unlock();
  const again = await lockDataDirectory(directory);
  again();
});

it('explains why a directory cannot be used', async () => {
  const file = join(directory, 'a file');
  await writeFile(file, '');
  await expect(lockDataDirectory(join(file, 'below'))).rejects.toThrow(
    /^the data directory .*a file\/below cannot be used \(ENOTDIR: .*\): make it writable, or choose another directory$/,
  );
});

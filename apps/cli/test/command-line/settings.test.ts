import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { copyProgram } from '@plant-store/test-setup';
import { afterEach, beforeEach, expect, it } from 'vitest';

let copy: Awaited<ReturnType<typeof copyProgram>>;

beforeEach(async () => {
  copy = await copyProgram('cli');
});

afterEach(() => rm(copy.root, { recursive: true }));

/** Runs a copy of the program. The current directory is not the root of the copy. */
const run = (command: string, env: Record<string, string> = {}) =>
  promisify(execFile)(process.execPath, [copy.main, command], { cwd: tmpdir(), env });

it('reads .env at the repository root, but prefers environment variables, even empty ones', async () => {
  await writeFile(join(copy.root, '.env'), 'DATABASE_URL=invalid\nPLANT_STORE_DATA_DIR=data\n');
  const { stdout } = await run('doctor', { DATABASE_URL: '' });
  expect(stdout).toContain(`the embedded database in ${join(copy.root, 'data')}`);
  const other = join(copy.root, 'other');
  const overridden = await run('doctor', { DATABASE_URL: '', PLANT_STORE_DATA_DIR: other });
  expect(overridden.stdout).toContain(`the embedded database in ${other}`);
});

it('shows the help when .env cannot be read, and exits with code 2 otherwise', async () => {
  await mkdir(join(copy.root, '.env'));
  expect((await run('help')).stdout).toContain('Usage: plant-store');
  await expect(run('list')).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^plant-store: the settings in .*\.env cannot be read \(EISDIR/),
  });
});

it('warns of an environment variable whose name resembles a setting', async () => {
  const { stdout, stderr } = await run('doctor', { PLANT_STORE_DATADIR: copy.root });
  expect(stdout).toContain(`the embedded database in ${join(copy.root, '.plant-store')}`);
  expect(stderr).toBe(
    'plant-store: warning: PLANT_STORE_DATADIR is not a setting: did you mean PLANT_STORE_DATA_DIR?\n',
  );
});

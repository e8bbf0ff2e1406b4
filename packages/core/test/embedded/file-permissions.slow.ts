import { execFile } from 'node:child_process';
import { chmod, chown, cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hasPosixShell, unprivilegedUser } from '@plant-store/test-setup';
import { expect, inject, it, onTestFinished } from 'vitest';

const core = new URL('../../src/index.ts', import.meta.url).href;

/** Runs a program with the exports of core, as a user for whom file permissions count. Returns its output. */
async function run(program: string, cwd: string): Promise<string> {
  const code = `const core = await import('${core}'); ${program}`;
  const args = ['--input-type=module', '--eval', code];
  const options = { cwd, ...(await unprivilegedUser()) };
  return (await promisify(execFile)(process.execPath, args, options)).stdout;
}

async function makeDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-permissions-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  return directory;
}

it.runIf(hasPosixShell)('names the file of a database that this user may not open', async () => {
  const directory = await makeDirectory();
  await cp(inject('dataDirectory'), directory, { recursive: true });
  const user = await unprivilegedUser();
  for (const name of ['.', ...(await readdir(directory, { recursive: true }))]) {
    if (user) await chown(join(directory, name), user.uid, user.gid);
  }
  const file = join(directory, 'postgres/global/pg_control');
  await chmod(file, 0);
  const open = `core.openPlantStore({ dataDirectory: '.' }).catch(({ message }) => console.log(message))`;
  expect(await run(open, directory)).toMatch(
    /^the database in \/.+ cannot be opened \(EACCES: .*pg_control'\): let this user read and write all files in it\n$/,
  );
});

it.runIf(hasPosixShell)(
  'opens a test store in a project that this user may not change',
  async () => {
    const project = await makeDirectory();
    await chmod(project, 0o555);
    const open = `const store = await core.openTestStore(); console.log(await store.list({ limit: 1 }));`;
    expect(await run(`${open} await store.close();`, project)).toBe('{ plants: [] }\n');
    expect(await readdir(project)).toEqual([]);
  },
);

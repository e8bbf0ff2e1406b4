import { execFile } from 'node:child_process';
import { chmod, chown, cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
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

/** Makes a store that belongs to the user of `run`. Returns the store's directory. */
async function makeStore(): Promise<string> {
  const directory = await makeDirectory();
  await cp(inject('dataDirectory'), directory, { recursive: true });
  const user = await unprivilegedUser();
  for (const name of ['.', ...(await readdir(directory, { recursive: true }))]) {
    if (user) await chown(join(directory, name), user.uid, user.gid);
  }
  return directory;
}

const open = `core.openPlantStore({ dataDirectory: '.' }).catch(({ message }) => console.log(message))`;

it.runIf(hasPosixShell).each([
  ['global/pg_control', 0],
  ['.', 0o555],
])('names the path postgres/%s that this user may not open', async (path, mode) => {
  const directory = await makeStore();
  await chmod(join(directory, 'postgres', path), mode);
  const message = await run(open, directory);
  expect(message).toContain(`'${join(directory, 'postgres', path)}'`);
  expect(message).toMatch(
    /^the database in \/.+ cannot be opened \(EACCES: .*'\): let this user read and write all files in it\n$/,
  );
});

it.runIf(hasPosixShell)('does not open a store whose lock this user may not write', async () => {
  const directory = await makeStore();
  await writeFile(join(directory, 'lock'), '');
  await chmod(join(directory, 'lock'), 0o444);
  expect(await run(open, directory)).toMatch(
    /cannot be used \(EACCES: .*lock'\): make it writable/,
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

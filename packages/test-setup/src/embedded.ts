import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';

const cache = fileURLToPath(new URL('../node_modules/.cache/', import.meta.url));

/**
 * Makes a data directory with an empty embedded database, as a global setup of Vitest. The directory stays
 * for later test runs. Tests copy the directory at `inject('dataDirectory')`, because making a database
 * takes seconds.
 */
export default async function setup(project: TestProject): Promise<void> {
  const directory = join(cache, `embedded-${await pgliteVersion()}`);
  if (!existsSync(directory)) await makeDatabase(directory);
  project.provide('dataDirectory', directory);
}

async function makeDatabase(directory: string): Promise<void> {
  const { PGlite } = await import('@electric-sql/pglite');
  await mkdir(cache, { recursive: true });
  const unfinished = await mkdtemp(`${directory}-`);
  await (await PGlite.create(join(unfinished, 'postgres'))).close();
  await rename(unfinished, directory).catch(async (error) => {
    if (!existsSync(directory)) throw error;
    // The tests of another package have already made `directory`, so `unfinished` is not needed.
    await rm(unfinished, { recursive: true });
  });
}

/** The directory's name contains the version of PGlite, because another version may write other files. */
async function pgliteVersion(): Promise<string> {
  const main = createRequire(import.meta.url).resolve('@electric-sql/pglite');
  return JSON.parse(await readFile(join(main, '../../package.json'), 'utf8')).version;
}

declare module 'vitest' {
  export interface ProvidedContext {
    /** A data directory with an empty database. Tests copy the directory. */
    dataDirectory: string;
  }
}

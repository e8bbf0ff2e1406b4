import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startRegistry } from './registry.ts';
import { copyRepository, release } from './release-copy.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A directory outside the workspace for the projects of the tests. */
    directory: string;
    /** The content of an `.npmrc` with the registry that has our packages. */
    npmrc: string;
    /** A copy of the repository, from which the packages were released. */
    copy: string;
    /** The output of the release. */
    released: string;
  }
}

/** Releases the packages to a local registry, from which the tests install them. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-packed-'));
  const copy = join(directory, 'repository');
  const { npmrc, stop } = await startRegistry(join(directory, 'registry'));
  await copyRepository(copy, npmrc);
  project.provide('directory', directory);
  project.provide('npmrc', npmrc);
  project.provide('copy', copy);
  project.provide('released', await release(copy));
  return async () => {
    stop();
    await rm(directory, { recursive: true });
  };
}

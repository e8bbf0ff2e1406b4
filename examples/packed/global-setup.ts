import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startRegistry } from './registry.ts';
import { copyRepository, release } from './release-copy.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The tests make their projects in this directory, which is outside the workspace. */
    directory: string;
    /** The content of an `.npmrc` that names the registry of our packages. */
    npmrc: string;
    /** The directory with a copy of the repository. */
    copy: string;
    /** The output of the two release commands. */
    released: string;
  }
}

/** Releases the packages to a local registry. The tests install the packages from this registry. */
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

import { rm } from 'node:fs/promises';
import { repository, run } from './run.ts';

/** Packs the packages by the command that their pages name, as in a fresh clone. */
export async function pack(): Promise<Tarballs> {
  const built = Object.values(paths).map((path) => `${path}/dist`);
  for (const path of ['dist-packages', ...built]) {
    await rm(`${repository}/${path}`, { recursive: true, force: true });
  }
  await run(repository, 'pnpm', ['pack:packages']);
  const tarballs = Object.keys(paths).map((name) => [
    name,
    `${repository}/dist-packages/plant-store-${name}.tgz`,
  ]);
  return Object.fromEntries(tarballs); // The result has every name of `paths`.
}

const paths = {
  schemas: 'packages/schemas',
  formats: 'packages/formats',
  core: 'packages/core',
  citus: 'packages/citus',
  client: 'packages/client',
  'fast-start': 'packages/fast-start',
  cli: 'apps/cli',
};

/** The path of each package's tarball. */
export type Tarballs = Record<keyof typeof paths, string>;

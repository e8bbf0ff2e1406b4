import { repository, run } from './run.ts';

/** Packs packages as `pnpm publish` does, one after the other: each build needs those before it. */
export async function pack(directory: string): Promise<Tarballs> {
  const packed: [string, string][] = [];
  for (const [name, path] of Object.entries(paths)) {
    await run(`${repository}/${path}`, 'pnpm', ['pack', '--pack-destination', directory]);
    packed.push([name, `${directory}/plant-store-${name}-1.0.0.tgz`]);
  }
  return Object.fromEntries(packed) as Tarballs; // It has every name of `paths`.
}

const paths = {
  schemas: 'packages/schemas',
  core: 'packages/core',
  client: 'packages/client',
  'fast-start': 'packages/fast-start',
  cli: 'apps/cli',
};

/** The path of each package's tarball. */
export type Tarballs = Record<keyof typeof paths, string>;

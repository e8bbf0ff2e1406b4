import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vitestConfig, withPostgres } from '../../tools/vitest.base.ts';
import manifest from './package.json' with { type: 'json' };

const range = manifest.peerDependencies['@trpc/client'];

/** Runs the client's tests with the oldest and the newest version of tRPC that the client supports. */
export default vitestConfig({
  globalSetup: withPostgres,
  projects: [range.replace('^', ''), range].map((version) => ({
    extends: true,
    resolve: { alias: [{ find: /^@trpc(?=[/])/, replacement: installTrpc(version) }] },
    test: {
      name: `tRPC ${version}`,
      include: ['test/{calls,follow-plants,plant-changes,plant-store-client}.test.ts'],
    },
  })),
});

/** Installs a version of tRPC outside the workspace. Returns the directory of tRPC's packages. */
function installTrpc(version: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'plant-store-trpc-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  const options = ['--prefix', directory, '--no-audit', '--no-fund', '--prefer-offline'];
  const packages = [`@trpc/client@${version}`, `@trpc/server@${version}`];
  execFileSync('npm', ['install', ...options, ...packages], {
    stdio: 'ignore',
    shell: process.platform === 'win32',
  });
  return join(directory, 'node_modules/@trpc');
}

import { fileURLToPath } from 'node:url';
import { defineConfig, mergeConfig, type ViteUserConfig } from 'vitest/config';

/**
 * The Vitest configuration that all packages share. All files of a suite have the same ending: `vitest run`
 * runs `*.test.ts`, and `vitest run --mode slow` runs `*.slow.ts`. `.ci/run` reads the totals from
 * `outputFile`.
 */
export function vitestConfig(test: NonNullable<ViteUserConfig['test']> = {}) {
  return defineConfig(({ mode }) => {
    const outputFile = `test-results.${mode}.json`;
    const base: ViteUserConfig = {
      test: {
        include: [`**/!(vitest).${mode}.ts`],
        reporters: ['default', ['json', { outputFile }]],
        // The files of a package share their processes, which load our modules once.
        isolate: false,
        setupFiles: fileURLToPath(new URL('vitest.setup.ts', import.meta.url)),
        // Only a test that hangs reaches this timeout, on any machine. A wait in a test ends when its
        // condition holds.
        testTimeout: 300_000,
        hookTimeout: 300_000,
        expect: { poll: { timeout: 60_000 } },
      },
    };
    return mergeConfig(base, { test });
  });
}

const globalSetup = (name: string) =>
  fileURLToPath(new URL(`../packages/test-setup/src/global-setup/${name}.ts`, import.meta.url));

/** A global setup that starts one real Postgres for the tests of a package. */
export const withPostgres = globalSetup('postgres');

/** A global setup that makes an embedded database, which the tests of a package copy. */
export const withEmbedded = globalSetup('embedded');

/** A global setup that starts one Citus cluster for the tests of a package. */
export const withCitus = globalSetup('citus');

import { fileURLToPath } from 'node:url';
import { defineConfig, mergeConfig, type ViteUserConfig } from 'vitest/config';

/**
 * The Vitest configuration that all packages share. All files of a suite have the same ending: `vitest run`
 * runs `*.test.ts`, and `vitest run --mode e2e` runs `*.e2e.ts`. `.ci/run` reads the totals from
 * `outputFile`.
 */
export function vitestConfig(test: NonNullable<ViteUserConfig['test']> = {}) {
  return defineConfig(({ mode }) => {
    const outputFile = `test-results.${mode}.json`;
    const base: ViteUserConfig = {
      test: {
        include: [`**/!(vitest).${mode}.ts`],
        reporters: ['default', ['json', { outputFile }]],
        // All test files of a package run in the same processes, so each process loads our modules only once.
        isolate: false,
        setupFiles: fileURLToPath(new URL('vitest.setup.ts', import.meta.url)),
        // On any machine, only a test that hangs reaches this timeout. A wait in a test ends when its
        // condition is true.
        testTimeout: 300_000,
        hookTimeout: 300_000,
        expect: { poll: { timeout: 60_000 } },
      },
    };
    return mergeConfig(base, { test });
  });
}

const globalSetup = (name: string) =>
  fileURLToPath(new URL(`../packages/test-setup/src/${name}.ts`, import.meta.url));

/** A global setup that starts one real Postgres for the tests of a package. */
export const withPostgres = globalSetup('postgres/start-postgres');

/** A global setup that makes an embedded database. Tests copy the directory of this database. */
export const withEmbedded = globalSetup('embedded');

/** A global setup that starts a Citus cluster. */
export const withCitus = globalSetup('postgres/start-citus');

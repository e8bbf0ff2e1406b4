import { fileURLToPath } from 'node:url';
import { defineConfig, mergeConfig, type ViteUserConfig } from 'vitest/config';

/** The Vitest configuration that all packages share. `.ci/run` reads the totals from `outputFile`. */
export function vitestConfig(
  test: NonNullable<ViteUserConfig['test']> = {},
  outputFile = 'test-results.json',
): ViteUserConfig {
  const base = defineConfig({
    test: {
      reporters: ['default', ['json', { outputFile }]],
      // The files of a package share their processes, which load our modules once.
      isolate: false,
      setupFiles: fileURLToPath(new URL('vitest.setup.ts', import.meta.url)),
      testTimeout: 120_000,
      hookTimeout: 120_000,
    },
  });
  return mergeConfig(base, { test });
}

const globalSetup = (name: string) =>
  fileURLToPath(new URL(`packages/test-setup/src/global-setup/${name}.ts`, import.meta.url));

/** A global setup that starts one real Postgres for the tests of a package. */
export const withPostgres = globalSetup('postgres');

/** A global setup that makes an embedded database, which the tests of a package copy. */
export const withEmbedded = globalSetup('embedded');

/** A global setup that starts one Citus cluster for the tests of a package. */
export const withCitus = globalSetup('citus');

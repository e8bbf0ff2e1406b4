import { fileURLToPath } from 'node:url';
import { defineConfig, mergeConfig, type ViteUserConfig } from 'vitest/config';

/** Vitest as every package uses it; the totals are read from the file of results by `.ci/run`. */
export function vitestConfig(
  test: NonNullable<ViteUserConfig['test']> = {},
  outputFile = 'test-results.json',
): ViteUserConfig {
  const base = defineConfig({
    test: {
      reporters: ['default', ['json', { outputFile }]],
      testTimeout: 30_000,
      hookTimeout: 30_000,
    },
  });
  return mergeConfig(base, { test });
}

/** The global setup that starts one real Postgres for a package's tests. */
export const withPostgres = fileURLToPath(
  new URL('packages/test-setup/src/global-setup.ts', import.meta.url),
);

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

const setup = (name: string) =>
  fileURLToPath(new URL(`packages/test-setup/src/${name}.ts`, import.meta.url));

/** The global setup that starts one real Postgres for a package's tests. */
export const withPostgres = setup('global-setup');

/** The one that makes an embedded database for them to copy. */
export const withEmbedded = setup('embedded-setup');

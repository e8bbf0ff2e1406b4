import { defineConfig } from 'vitest/config';
import { withPostgres } from './vitest.base.ts';

/**
 * The area of `mutants.config.js` whose mutants Stryker tries. `tools/mutants.mjs` sets the variable. `tests`
 * contains patterns of file names.
 */
const area: { tests: string[]; needsPostgres?: true } = JSON.parse(
  process.env['MUTANT_AREA'] ?? '{"tests":[]}',
);

/** The Vitest configuration for the mutants of one area. */
export default defineConfig({
  test: {
    include: area.tests,
    // Stryker runs the global setup again after each mutant that hangs, so only some areas start Postgres.
    globalSetup: area.needsPostgres ? [withPostgres] : [],
    // All test files share the loaded modules, because a module takes longer to load than most tests run.
    isolate: false,
    // A mutant may make a test wait without end. A waiting test fails after this number of milliseconds.
    testTimeout: 10_000,
    hookTimeout: 10_000,
  },
});

import { matchesGlob, relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { withPostgres } from './vitest.base.ts';

/**
 * The area of `mutants.config.js` whose mutants Stryker tries. `tools/mutants.mjs` sets the variable. `tests`
 * contains patterns of file names.
 */
const area: { tests: string[]; needsPostgres?: true } = JSON.parse(
  process.env['MUTANT_AREA'] ?? '{"tests":[]}',
);
const { tests, needsPostgres } = area;

/** Runs the files in the order of their patterns, so that the slow files come last. */
class InOrderOfPatterns extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) =>
      tests.findIndex((pattern) => matchesGlob(relative(process.cwd(), moduleId), pattern));
    return files.toSorted((a, b) => place(a) - place(b));
  }
}

/** The Vitest configuration for the mutants of one area. */
export default defineConfig({
  test: {
    include: tests,
    // Stryker runs the global setup again after each mutant that hangs, so only some areas start Postgres.
    globalSetup: needsPostgres ? [withPostgres] : [],
    sequence: { sequencer: InOrderOfPatterns },
    // All test files share the loaded modules, because a module takes longer to load than most tests run.
    isolate: false,
    // A mutant may make a test wait without end. A waiting test fails after this number of milliseconds.
    testTimeout: 10_000,
    hookTimeout: 10_000,
  },
});

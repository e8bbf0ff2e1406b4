import { matchesGlob, relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { withPostgres } from './vitest.base.ts';

/**
 * The area of `mutants.config.js` whose mutants are tried. `tools/mutants.mjs` sets the variable. The tests
 * of the area are file patterns.
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

/** The tests that run for the mutants of one area. */
export default defineConfig({
  test: {
    include: tests,
    // Stryker runs the global setup again after each mutant that hangs.
    globalSetup: needsPostgres ? [withPostgres] : [],
    sequence: { sequencer: InOrderOfPatterns },
    // The files share their imports, which take longer than most tests.
    isolate: false,
    // A mutant may make a test wait without end. The test fails after this time.
    testTimeout: 10_000,
    hookTimeout: 10_000,
  },
});

import { vitestConfig, withCitus } from '../../tools/vitest.base.ts';

/** Runs the tests about Citus, and the tests of core that run on every kind of database. */
export default vitestConfig({
  dir: '..',
  include: [
    'citus/test/**/*.citus.ts',
    'core/test/plant-store.test.ts',
    'core/test/webhooks/webhooks.test.ts',
    'core/test/{plants/plant-reader,plants/bulk-reading,plants/search,bulk/*}.{test,slow}.ts',
  ],
  testNamePattern: /Citus/,
  globalSetup: withCitus,
  // A list adds to the setup files that all packages use. A string would replace these setup files.
  setupFiles: ['test/fixtures/use-cluster.ts'],
});

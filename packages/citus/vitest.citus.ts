import { vitestConfig, withCitus } from '../../tools/vitest.base.ts';

/** The suites about Citus, and the suites of core that run on every kind of database. */
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
  // As a list, this file does not replace the setup file of all packages.
  setupFiles: ['test/fixtures/use-cluster.ts'],
});

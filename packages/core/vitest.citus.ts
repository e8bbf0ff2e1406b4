import { vitestConfig, withCitus } from '../../tools/vitest.base.ts';

/** The suites that run on every kind of database, and those about Citus. */
export default vitestConfig({
  include: [
    'test/plant-store.test.ts',
    'test/plants/{plant-reader,bulk-reading,bulk/*}.{test,slow}.ts',
  ],
  testNamePattern: /Citus/,
  globalSetup: withCitus,
});

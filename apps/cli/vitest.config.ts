import { vitestConfig, withPostgres } from '../../vitest.base.ts';

export default vitestConfig({
  globalSetup: withPostgres,
  // Nearly every test starts a program, and the machine may be busy.
  testTimeout: 120_000,
  // The test files share one import of core, which takes longer than most tests.
  isolate: false,
});

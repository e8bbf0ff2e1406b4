import { vitestConfig, withPostgres } from '../../vitest.base.ts';

export default vitestConfig({
  globalSetup: withPostgres,
  // Every test starts programs, and a machine may have others to run.
  testTimeout: 120_000,
});

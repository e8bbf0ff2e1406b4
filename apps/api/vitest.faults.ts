import { vitestConfig, withPostgres } from '../../vitest.base.ts';

export default vitestConfig(
  { include: ['test/faults/**/*.faults.ts'], globalSetup: withPostgres, testTimeout: 60_000 },
  'test-results.faults.json',
);

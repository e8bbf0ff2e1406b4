import { vitestConfig, withPostgres } from '../../vitest.base.ts';

export default vitestConfig(
  {
    include: ['test/faults/**/*.faults.ts'],
    reporters: ['./test/faults/fault-table.ts'],
    globalSetup: withPostgres,
    testTimeout: 180_000,
    fileParallelism: false, // What they promise in seconds they promise on a machine of their own.
  },
  'test-results.faults.json',
);

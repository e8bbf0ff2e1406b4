import { vitestConfig, withPostgres } from '../../vitest.base.ts';

export default vitestConfig({
  reporters: ['./test/faults/fault-table.ts'],
  globalSetup: withPostgres,
  fileParallelism: false, // What they promise in seconds they promise on a machine of their own.
});

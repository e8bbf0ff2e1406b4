import { vitestConfig, withPostgres } from '../../tools/vitest.base.ts';

export default vitestConfig({
  reporters: ['./test/faults/fault-table.ts'],
  globalSetup: withPostgres,
  fileParallelism: false, // Their time limits hold only when no other test runs.
});

import { vitestConfig, withPostgres } from '../../tools/vitest.base.ts';

export default vitestConfig({
  reporters: ['./test/faults/fault-table.ts'],
  globalSetup: withPostgres,
  fileParallelism: false, // The time limits of these tests hold only when no other test runs.
});

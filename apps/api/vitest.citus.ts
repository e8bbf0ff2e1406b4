import { vitestConfig } from '../../vitest.base.ts';

/** Each test starts a cluster of its own, because it breaks the cluster. */
export default vitestConfig(
  { include: ['test/citus/*.citus.ts'], testTimeout: 180_000, fileParallelism: false },
  'test-results.citus.json',
);

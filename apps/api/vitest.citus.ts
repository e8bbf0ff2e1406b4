import { vitestConfig } from '../../tools/vitest.base.ts';

/** Each test starts a cluster of its own, because it breaks the cluster. */
export default vitestConfig({ fileParallelism: false });

import { vitestConfig } from '../../tools/vitest.base.ts';

/** Runs one test file at a time, because each test starts and breaks its own Citus cluster. */
export default vitestConfig({ fileParallelism: false });

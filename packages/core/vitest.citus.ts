import { vitestConfig, withCitus } from '../../tools/vitest.base.ts';

/** Runs the suite of the store on a Citus cluster. With `--mode citus`, runs the tests of clusters. */
export default vitestConfig({
  include: ['test/store/!(arguments).test.ts'],
  globalSetup: withCitus,
  maxWorkers: 1, // Citus cannot create two databases of one role at the same time.
});

import { vitestConfig, withCitus } from '../../tools/vitest.base.ts';

/** Runs the suite of the store on a Citus cluster, and with `--mode citus` the tests of clusters. */
export default vitestConfig({
  include: ['test/store/!(arguments).test.ts'],
  globalSetup: withCitus,
  maxWorkers: 1, // Citus cannot make two databases of one role at the same time.
});

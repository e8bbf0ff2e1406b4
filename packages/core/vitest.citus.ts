import { vitestConfig, withCitus } from '../../tools/vitest.base.ts';

/** With `--mode citus`, runs the tests in `test/citus/` and the suite in `test/store/` on Citus clusters. */
export default vitestConfig({
  include: ['test/store/!(arguments).test.ts'],
  globalSetup: withCitus,
  maxWorkers: 1, // Citus cannot create two databases of one role at the same time.
});

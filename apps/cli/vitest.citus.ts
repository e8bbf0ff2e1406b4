import { vitestConfig, withCitus } from '../../vitest.base.ts';

export default vitestConfig(
  { include: ['test/citus/*.citus.ts'], globalSetup: withCitus },
  'test-results.citus.json',
);

import { vitestConfig, withPostgres } from '../tools/vitest.base.ts';

export default vitestConfig({
  globalSetup: [withPostgres, 'packed/global-setup.ts'],
  include: ['packed/*.test.ts'],
  // A release of the next version changes what the other tests install.
  fileParallelism: false,
});

import { vitestConfig, withPostgres } from '../tools/vitest.base.ts';

export default vitestConfig({
  globalSetup: [withPostgres, 'packed/global-setup.ts'],
  include: ['packed/*.test.ts'],
  exclude: ['rest/**', 'front-end/**', 'node_modules/**'],
  // `release.test.ts` changes the packages that the other tests install.
  fileParallelism: false,
});

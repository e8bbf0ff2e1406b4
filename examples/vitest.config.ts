import { vitestConfig, withPostgres } from '../tools/vitest.base.ts';

export default vitestConfig({
  globalSetup: withPostgres,
  exclude: ['packed/**', 'versions/**', 'rest/**', 'front-end/**', 'node_modules/**'],
});

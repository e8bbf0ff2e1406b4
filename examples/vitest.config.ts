import { vitestConfig, withPostgres } from '../vitest.base.ts';

export default vitestConfig({
  globalSetup: withPostgres,
  exclude: ['packed/**', 'versions/**', 'rest/**', 'front-end/**', 'node_modules/**'],
});

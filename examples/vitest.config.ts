import { vitestConfig, withPostgres } from '../vitest.base.ts';

export default vitestConfig({
  globalSetup: withPostgres,
  exclude: ['packed/**', 'rest/**', 'front-end/**', 'node_modules/**'],
});

import { vitestConfig, withPostgres } from '../vitest.base.ts';

export default vitestConfig({
  globalSetup: withPostgres,
  exclude: ['rest/**', 'front-end/**', 'node_modules/**'],
});

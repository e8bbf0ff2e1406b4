import { vitestConfig, withPostgres } from '../tools/vitest.base.ts';

export default vitestConfig({
  globalSetup: withPostgres,
  exclude: ['rest/**', 'front-end/**', 'node_modules/**'],
});

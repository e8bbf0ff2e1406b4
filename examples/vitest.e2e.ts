import { vitestConfig, withPostgres } from '../tools/vitest.base.ts';

export default vitestConfig({
  globalSetup: [withPostgres, 'installed/registry.ts'],
  exclude: ['rest/**', 'front-end/**', 'node_modules/**'],
});

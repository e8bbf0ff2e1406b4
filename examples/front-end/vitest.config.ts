import { hasBrowser } from '@plant-store/test-setup/browser';
import { vitestConfig, withPostgres } from '../../tools/vitest.base.ts';

export default vitestConfig(
  hasBrowser() ? { globalSetup: withPostgres } : { exclude: ['**'], passWithNoTests: true },
);

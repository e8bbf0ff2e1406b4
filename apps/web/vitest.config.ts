import { fileURLToPath } from 'node:url';
import { hasBrowser } from '@plant-store/test-setup/browser';
import { vitestConfig, withPostgres } from '../../tools/vitest.base.ts';

const globalSetup = fileURLToPath(new URL('test/fixtures/global-setup.ts', import.meta.url));

export default vitestConfig(
  hasBrowser()
    ? {
        globalSetup: [withPostgres, globalSetup],
        // All files share one browser and one server, so running two files in parallel gains nothing.
        fileParallelism: false,
        // Each file must load the fixtures again, because the fixtures register hooks when they are loaded.
        isolate: true,
      }
    : { exclude: ['**'], passWithNoTests: true },
);

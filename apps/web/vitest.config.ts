import { fileURLToPath } from 'node:url';
import { hasBrowser } from '@plant-store/test-setup/find-browser';
import { vitestConfig, withEmbedded, withPostgres } from '../../tools/vitest.base.ts';

const globalSetup = fileURLToPath(new URL('test/fixtures/global-setup.ts', import.meta.url));

export default vitestConfig(
  hasBrowser()
    ? {
        globalSetup: [withPostgres, withEmbedded, globalSetup],
        // All files share one browser and two servers, so running two files at once gains nothing.
        fileParallelism: false,
        // The fixtures have hooks, which a file registers when it loads them.
        isolate: true,
      }
    : {
        exclude: ['test/**/!(page-map|change-page|update-page|earlier-page|as-text).*.ts'],
        passWithNoTests: true,
      },
);

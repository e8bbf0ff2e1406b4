import { fileURLToPath } from 'node:url';
import { hasBrowser } from '@plant-store/test-setup/find-browser';
import { vitestConfig, withEmbedded, withPostgres } from '../../vitest.base.ts';

const globalSetup = fileURLToPath(new URL('test/fixtures/global-setup.ts', import.meta.url));

const withoutBrowser = [
  'test/import/read-rows.test.ts',
  'test/plants/table/page-map.test.ts',
  'test/requests/as-text.test.ts',
];

export default vitestConfig(
  hasBrowser()
    ? {
        globalSetup: [withPostgres, withEmbedded, globalSetup],
        // One browser and two servers serve all files; a second file would only wait for them.
        fileParallelism: false,
        // The fixtures have hooks, which a file registers when it loads them.
        isolate: true,
        // A poll ends when its condition holds; this is for slow machines only.
        expect: { poll: { timeout: 20_000 } },
      }
    : { include: withoutBrowser },
);

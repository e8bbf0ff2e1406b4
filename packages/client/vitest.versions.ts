import { join } from 'node:path';
import { vitestConfig, withPostgres } from '../../tools/vitest.base.ts';
import manifest from './package.json' with { type: 'json' };
import { directoryOf } from './test/install-trpc.ts';

const range = manifest.peerDependencies['@trpc/client'];

/** Runs the client's tests with the oldest and the newest version of tRPC that the client supports. */
export default vitestConfig({
  globalSetup: withPostgres,
  projects: [range.replace('^', ''), range].map((version) => ({
    extends: true,
    resolve: {
      alias: [
        {
          find: /^@trpc(?=[/])/,
          replacement: join(directoryOf(version), 'node_modules/@trpc'),
        },
      ],
    },
    test: {
      name: version,
      globalSetup: './test/install-trpc.ts',
      include: ['test/{calls,follow-plants,plant-changes,plant-store-client}.test.ts'],
    },
  })),
});

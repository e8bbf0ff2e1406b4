import { fileURLToPath } from 'node:url';
import { vitestConfig, withEmbedded, withPostgres } from '../../vitest.base.ts';

const fixture = (name: string) =>
  fileURLToPath(new URL(`test/fixtures/${name}.ts`, import.meta.url));

export default vitestConfig({
  globalSetup: [withPostgres, withEmbedded, fixture('global-setup')],
  // One browser and two servers serve all files; a second file would only wait for them.
  fileParallelism: false,
  // A poll ends when its condition holds; this is for slow machines only.
  expect: { poll: { timeout: 20_000 } },
});

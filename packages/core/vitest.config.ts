import { vitestConfig, withEmbedded, withPostgres } from '../../tools/vitest.base.ts';

export default vitestConfig({
  globalSetup: [withPostgres, withEmbedded],
  maxWorkers: 3, // Most tests wait for a database, so one worker per processor would leave time unused.
});

import { vitestConfig, withEmbedded, withPostgres } from '../../tools/vitest.base.ts';

export default vitestConfig({ globalSetup: [withPostgres, withEmbedded] });

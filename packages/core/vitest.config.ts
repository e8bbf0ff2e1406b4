import { vitestConfig, withEmbedded, withPostgres } from '../../vitest.base.ts';

export default vitestConfig({ globalSetup: [withPostgres, withEmbedded] });

import { vitestConfig, withEmbedded } from '../../tools/vitest.base.ts';

export default vitestConfig({ globalSetup: [withEmbedded] });

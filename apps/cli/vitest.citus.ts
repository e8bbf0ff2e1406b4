import { vitestConfig, withCitus } from '../../tools/vitest.base.ts';

export default vitestConfig({ globalSetup: withCitus });

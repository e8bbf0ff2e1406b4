import { vitestConfig, withCitus } from '../../vitest.base.ts';

export default vitestConfig({ globalSetup: withCitus });

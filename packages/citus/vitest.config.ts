import { vitestConfig, withPostgres } from '../../vitest.base.ts';

export default vitestConfig({ globalSetup: withPostgres });

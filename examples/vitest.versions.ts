import { vitestConfig, withPostgres } from '../vitest.base.ts';

export default vitestConfig({ globalSetup: withPostgres, include: ['versions/*.test.ts'] });

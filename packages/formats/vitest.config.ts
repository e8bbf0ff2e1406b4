import { vitestConfig } from '../../tools/vitest.base.ts';

export default vitestConfig();

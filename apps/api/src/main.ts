import { quickenImports } from '@plant-store/core/quick-imports';

quickenImports();
await import('./start.ts');

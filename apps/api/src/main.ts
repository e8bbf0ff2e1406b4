import { quickenImports } from '@plant-store/core/quick-imports';
import { endAtOnceWhenTold } from './stop.ts';

endAtOnceWhenTold();
quickenImports();
await import('./start.ts');

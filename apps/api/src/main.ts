import { quickenImports } from '@plant-store/core/quick-imports';
import { endAtOnceWhenTold } from './process/stop.ts';

endAtOnceWhenTold();
quickenImports();
await import('./process/start.ts');

import { startFast } from '@plant-store/fast-start';
import { exitOnSignals } from './process/stop.ts';

exitOnSignals();
startFast();
await import('./start.ts');

import { exitOnSignals } from './process/stop.ts';

exitOnSignals();
await import('./process/start.ts');

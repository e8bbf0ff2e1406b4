import { startFast } from '@plant-store/fast-start';
import { explainStartError } from './process/start-error.ts';
import { exitOnSignals } from './process/stop.ts';

exitOnSignals();
startFast();
try {
  const { readEnv } = await import('./env.ts');
  const env = readEnv();
  if (env.PLANT_STORE_PROCESSES === 1) {
    const { startAlone } = await import('./process/start.ts');
    await startAlone(env);
  } else {
    const { startSeveral } = await import('./process/start-several.ts');
    await startSeveral(env);
  }
} catch (error) {
  console.error(explainStartError(error));
  process.exit(1);
}

import { startFast } from '@plant-store/fast-start';
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

function explainStartError(error: unknown): string {
  const lines = error instanceof Error ? error.message.split('\n') : [String(error)];
  return ['The plant store did not start.', ...lines].join('\n  ');
}

import { exitOnSignals } from './process/stop.ts';

exitOnSignals();
try {
  const { readEnv } = await import('./env.ts');
  const { start } = await import('./process/start.ts');
  await start(readEnv());
} catch (error) {
  console.error(explainStartError(error));
  process.exit(1);
}

function explainStartError(error: unknown): string {
  const lines = error instanceof Error ? error.message.split('\n') : [String(error)];
  return ['The plant store did not start.', ...lines].join('\n  ');
}

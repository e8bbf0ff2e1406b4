import type { DatabaseState } from '@plant-store/core/operator';
import type { Finding } from './finding.ts';

/** Names the webhooks whose endpoints do not accept the changes. */
export function webhookChecks({ webhooks }: DatabaseState): Finding[] {
  return webhooks.map(({ name, failures, isPaused, error }) => {
    const state = isPaused ? 'is paused' : `has failed ${failures} times`;
    const remedy = isPaused
      ? 'correct the endpoint, and run plant-store webhook resume'
      : 'plant-store webhook show has the last attempts';
    const message = `the webhook ${JSON.stringify(name)} ${state} (${error}): ${remedy}`;
    return { check: 'webhooks', level: 'warning', message };
  });
}

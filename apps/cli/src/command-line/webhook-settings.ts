import { resolve } from 'node:path';
import type { WebhookSettings } from '@plant-store/core';
import { isSecretsKey, isWebhookTarget } from '@plant-store/core/operator';
import { loadEnvFile } from '@plant-store/fast-start/env-file';
import { usageError } from './errors.ts';
import { home } from './variables.ts';

/**
 * Reads the settings of webhooks. The command line and the server must have the same settings.
 *
 * @throws CommandError when a setting is invalid
 */
export function readWebhookSettings(): WebhookSettings {
  const variables = loadEnvFile(resolve(home, '.env'));
  const { PLANT_STORE_WEBHOOK_ALLOW: list, PLANT_STORE_SECRETS_KEY: key } = variables;
  const allow = list ? list.split(',').map((entry) => entry.trim()) : [];
  for (const entry of allow) {
    if (isWebhookTarget(entry)) continue;
    throw usageError(
      `PLANT_STORE_WEBHOOK_ALLOW has ${JSON.stringify(entry)}: set hosts, addresses or networks such as ` +
        '10.0.0.0/8, separated by commas',
    );
  }
  if (!key || isSecretsKey(key)) return { allow, secretsKey: key || undefined };
  throw usageError('PLANT_STORE_SECRETS_KEY is not valid: set 32 bytes in base64');
}

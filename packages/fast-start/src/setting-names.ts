/** The names of all settings. The server reads all settings, and the command line reads a few settings. */
export const settingNames = [
  'PORT',
  'HOST',
  'DATABASE_URL',
  'PLANT_STORE_DATA_DIR',
  'PLANT_STORE_TOKEN',
  'PLANT_STORE_PROCESSES',
  'PLANT_STORE_RATE_LIMIT',
  'PLANT_STORE_JWT_ISSUER',
  'PLANT_STORE_JWT_AUDIENCE',
  'PLANT_STORE_JWT_JWKS_URL',
  'PLANT_STORE_CORS_ORIGINS',
  'PLANT_STORE_DRAIN_DELAY_MS',
  'PLANT_STORE_FEED_DAYS',
  'PLANT_STORE_TRUST_PROXY',
  'PLANT_STORE_METRICS_PORT',
  'PLANT_STORE_WEBHOOK_ALLOW',
  'LOG_LEVEL',
  'PLANT_STORE_LOG_LEVELS',
] as const;

export type SettingName = (typeof settingNames)[number];

/** The variables of `loadEnvFile` and of the examples. The server does not read these variables. */
const otherNames = ['PLANT_STORE_ENV_FILE', 'PLANT_STORE_URL'];

const prefix = 'PLANT_STORE_';

/**
 * Returns a message for each variable that begins with `PLANT_STORE_` and is not a setting. The message
 * suggests the setting with the most similar name. Ignores empty variables.
 */
export function explainUnknownSettings(variables: NodeJS.ProcessEnv): string[] {
  const names: readonly string[] = [...settingNames, ...otherNames];
  return Object.keys(variables)
    .filter((name) => name.startsWith(prefix) && variables[name] && !names.includes(name))
    .map((name) => `${name} is not a setting: did you mean ${nearest(name, names)}?`);
}

/** Finds the most similar name. Ignores the prefix, so `PORT` is similar to `PLANT_STORE_PORT`. */
function nearest(name: string, names: readonly string[]): string | undefined {
  const distance = (other: string) =>
    editDistance(name.replace(prefix, ''), other.replace(prefix, ''));
  return names.toSorted((one, other) => distance(one) - distance(other))[0];
}

/** Counts the insertions, deletions and replacements that turn one text into the other text. */
function editDistance(one: string, other: string): number {
  let previous = Array.from({ length: other.length + 1 }, (_, j) => j);
  for (const [i, character] of [...one].entries()) {
    const row = [i + 1];
    for (const [j, before] of previous.slice(0, -1).entries()) {
      const replaced = before + (character === other[j] ? 0 : 1);
      row.push(Math.min(replaced, (previous[j + 1] ?? 0) + 1, (row[j] ?? 0) + 1));
    }
    previous = row;
  }
  return previous.at(-1) ?? 0;
}

import { join, resolve } from 'node:path';
import { databaseUrlSyntax, isDatabaseUrl, isWebhookTarget } from '@plant-store/core/operator';
import { z } from 'zod';
import { tokenSyntax } from './auth/tokens.ts';

/** Whether this program runs in the repository. In the published package, this file is JavaScript. */
export const isInRepository = import.meta.url.endsWith('.ts');
export const repositoryRoot = resolve(import.meta.dirname, '../../..');

/** The directory of the built console. The published package has a copy. */
export const builtConsole = isInRepository
  ? join(repositoryRoot, 'apps/web/dist')
  : join(import.meta.dirname, 'console');

/** The parent of the default data directory. `plant-store` has the same default. */
const home = isInRepository ? repositoryRoot : process.cwd();

/** A whole number in plain decimal: `1e3` is not valid. */
const whole = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .pipe(z.int().min(min).max(max));

const list = (each: z.ZodType<string, string>) =>
  z
    .string()
    .transform((text) => (text === '' ? [] : text.split(',').map((value) => value.trim())))
    .pipe(z.array(each));

export interface Setting {
  readonly schema: z.ZodType<unknown, string>;
  /** The value of a setting that is not set. Without a fallback, the value is undefined. */
  readonly fallback?: string;
  readonly example?: string;
  /** Describes the value in Markdown, for the page and `.env.example`. In an error, the text follows the word "set". */
  readonly text: string;
  /** Whether an error must not show the value. */
  readonly isSecret?: true;
}

/** All settings. `pnpm pages` writes `.env.example` and the table of docs/configuration.md from this list. */
export const settings = {
  PORT: {
    schema: whole(0, 65_535),
    fallback: '3000',
    text: 'the port of the server, from 0 to 65535. `0` means a free port',
  },
  HOST: {
    schema: z.string(),
    fallback: '127.0.0.1',
    text: "the address on which the server listens. `0.0.0.0` means all the machine's IPv4 addresses",
  },
  DATABASE_URL: {
    schema: z.string().refine(isDatabaseUrl),
    example: 'postgres://user:password@localhost:5432/plants',
    text: `\`${databaseUrlSyntax}\` of [your own Postgres](#your-own-postgres). Without a URL, the store uses the [embedded database](#the-embedded-database)`,
    isSecret: true,
  },
  PLANT_STORE_DATA_DIR: {
    schema: z.string().transform((path) => resolve(path)),
    fallback: join(home, '.plant-store'),
    example: '.plant-store',
    text: 'the directory of the embedded database and of its first access token',
  },
  PLANT_STORE_TOKEN: {
    schema: z.string().regex(tokenSyntax).min(16),
    example: 'choose-at-least-16-characters',
    text: 'an [access token](access-tokens.md#two-tokens-outside-the-database) that the server always accepts: at least 16 letters, digits and characters of `-._~+/`. The token may end with `=`',
    isSecret: true,
  },
  PLANT_STORE_RATE_LIMIT: {
    schema: whole(1, 999_999_999),
    example: '600',
    text: 'the number of requests that one IPv4 address, or one /64 network of IPv6 addresses, may send in a minute',
  },
  PLANT_STORE_JWT_ISSUER: {
    schema: z.string(),
    example: 'https://id.example.com/',
    text: 'the identity provider (`iss`) of [JWTs](access-tokens.md#jwts). Set all three JWT variables or none',
  },
  PLANT_STORE_JWT_AUDIENCE: {
    schema: z.string(),
    example: 'plant-store',
    text: 'the audience (`aud`) of the JWTs',
  },
  PLANT_STORE_JWT_JWKS_URL: {
    schema: z.url().regex(/^(https:|http:\/\/(localhost|127\.0\.0\.1|\[::1\])[:/])[^@]+$/),
    example: 'https://id.example.com/.well-known/jwks.json',
    text: 'the address of the keys of the JWTs: https, or http on this machine, without a password',
    isSecret: true, // An invalid URL may contain a password.
  },
  PLANT_STORE_CORS_ORIGINS: {
    schema: list(z.string().refine((text) => URL.canParse(text) && new URL(text).origin === text)),
    fallback: '',
    example: 'https://app.example.com,http://localhost:5173',
    text: 'the origins of web pages that may call the store, such as `https://app.example.com`, separated by commas',
  },
  PLANT_STORE_DRAIN_DELAY_MS: {
    schema: whole(0, 600_000),
    fallback: '1000',
    text: 'the number of milliseconds, at most 600000, for which the server [accepts requests](run.md#health-and-stop) after `SIGTERM`',
  },
  PLANT_STORE_FEED_DAYS: {
    schema: whole(1, 36_500),
    fallback: '7',
    text: 'the number of days, from 1 to 36500, after which the feed forgets a deletion, and a cursor may expire',
  },
  PLANT_STORE_TRUST_PROXY: {
    schema: list(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()])),
    fallback: '',
    example: '10.0.0.0/8,127.0.0.1',
    text: 'the addresses or subnets of your [proxies](run.md#behind-a-proxy), separated by commas',
  },
  PLANT_STORE_METRICS_PORT: {
    schema: whole(0, 65_535),
    example: '9464',
    text: 'the port for [metrics](observe.md#metrics), from 0 to 65535, at the address `HOST`',
  },
  PLANT_STORE_WEBHOOK_ALLOW: {
    schema: list(z.string().refine(isWebhookTarget)),
    fallback: '',
    example: 'partner.internal,10.0.0.0/8',
    text: 'the private hosts, addresses and networks, separated by commas, to which [webhooks](webhooks.md) may connect, even over http',
  },
  LOG_LEVEL: {
    schema: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    fallback: 'info',
    text: 'the lowest level of the log lines: `fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`',
  },
} satisfies Record<string, Setting>;

/** Removes the marks of Markdown from a text. */
export const plain = (text: string) => text.replaceAll(/\[([^\][]+)\]\([^()]+\)|`/g, '$1');

export type SettingName = keyof typeof settings;

type ValueOf<Each extends Setting> =
  | z.output<Each['schema']>
  | (Each extends { fallback: string } ? never : undefined);

export type Settings = { [Name in SettingName]: ValueOf<(typeof settings)[Name]> };

/**
 * Reads the settings from environment variables. An empty value counts as not set.
 *
 * @throws Error that names each invalid or missing setting in a line of its own
 */
export function readSettings(variables: NodeJS.ProcessEnv): Settings {
  const errors: string[] = [];
  const all: [string, Setting][] = Object.entries(settings);
  const entries = all.map(([name, { schema, fallback, text, isSecret }]) => {
    const value = variables[name] || fallback;
    const { data, success } = schema.optional().safeParse(value);
    const given = isSecret ? 'is not valid' : `is ${JSON.stringify(value)}`;
    if (!success) errors.push(`${name} ${given}: set ${plain(text)}`);
    return [name, data];
  });
  const ofJwts = all.filter(([name]) => name.startsWith('PLANT_STORE_JWT_'));
  const missing = ofJwts.filter(([name]) => !variables[name]);
  if (missing.length < ofJwts.length) {
    for (const [name, { text }] of missing) errors.push(`${name} is not set: set ${plain(text)}`);
  }
  if (errors.length > 0) throw new Error(errors.join('\n'));
  return Object.fromEntries(entries) as Settings; // Every value has passed its schema.
}

/** Reads the settings from the environment and from `.env`. A variable of the environment overrides `.env`. */
export function loadSettings(): Settings {
  try {
    process.loadEnvFile();
  } catch {} // The file is optional.
  return readSettings(process.env);
}

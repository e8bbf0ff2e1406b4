import { resolve } from 'node:path';
import {
  databaseUrlSyntax,
  isDatabaseUrl,
  isWebhookTarget,
  withoutPassword,
} from '@plant-store/core/operator';
import { z } from 'zod';
import { tokenSyntax } from './auth/authentication.ts';
import type { JwtSettings } from './auth/jwt.ts';
import { home } from './repository.ts';

const levels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** A whole number in plain decimal: `1e3` and an empty value are not valid. */
const whole = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .pipe(z.int().min(min).max(max));

const list = (each: z.ZodType<string, string>) =>
  z
    .string()
    .transform((text) => text.split(',').map((value) => value.trim()))
    .pipe(z.array(each))
    .default([]);

/** Whether a text is an origin in the form that browsers send. This form never contains the default port. */
const isOrigin = (text: string) => URL.canParse(text) && new URL(text).origin === text;

/** The error for an invalid value contains the text `fix`, and also the value, unless `isSecret` is set. */
const settings = {
  PORT: {
    schema: whole(0, 65_535).default(3000),
    fix: 'set a port from 0 to 65535, where 0 picks a free one',
  },
  HOST: {
    schema: z.string().default('127.0.0.1'),
    fix: 'set an address or a host name',
  },
  DATABASE_URL: {
    schema: z.string().refine(isDatabaseUrl).optional(),
    fix: `set ${databaseUrlSyntax}, or leave it out for the embedded database`,
    isSecret: true,
  },
  PLANT_STORE_DATA_DIR: {
    schema: z
      .string()
      .transform((path) => resolve(path))
      .default(resolve(home, '.plant-store')),
    fix: 'set a directory',
  },
  PLANT_STORE_TOKEN: {
    schema: z.string().regex(tokenSyntax).min(16).optional(),
    fix: 'set at least 16 letters, digits and - . _ ~ + / at random, = at the end only',
    isSecret: true,
  },
  PLANT_STORE_RATE_LIMIT: {
    schema: whole(1, 999_999_999).optional(),
    fix: 'set how many requests a minute one address may send, or leave it out for no limit',
  },
  PLANT_STORE_JWT_ISSUER: {
    schema: z.string().optional(),
    fix: 'set the `iss` of the JWTs that are accepted',
  },
  PLANT_STORE_JWT_AUDIENCE: {
    schema: z.string().optional(),
    fix: 'set the `aud` of the JWTs that are accepted',
  },
  PLANT_STORE_JWT_JWKS_URL: {
    schema: z.string().refine(isSafeUrl).optional(),
    fix: 'set the address of the issuer’s keys: https, or http on this machine alone, without a password',
    isSecret: true, // The URL may contain a password.
  },
  PLANT_STORE_CORS_ORIGINS: {
    schema: list(z.string().refine(isOrigin)),
    fix: 'set origins as browsers send them, without a slash at the end: https://app.example.com, separated by commas',
  },
  PLANT_STORE_DRAIN_DELAY_MS: {
    schema: whole(0, 600_000).default(1_000),
    fix: 'set the milliseconds, up to 600000, for which the server takes requests after SIGTERM',
  },
  PLANT_STORE_FEED_DAYS: {
    schema: whole(1, 36_500).default(7),
    fix: 'set for how many days the feed of changes keeps deletions, from 1 to 36500',
  },
  PLANT_STORE_TRUST_PROXY: {
    schema: list(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()])),
    fix: 'set addresses or subnets of proxies, such as 10.0.0.0/8, separated by commas',
  },
  PLANT_STORE_METRICS_PORT: {
    schema: whole(0, 65_535).optional(),
    fix: 'set a port from 0 to 65535, where 0 picks a free one, or leave it out for no metrics',
  },
  PLANT_STORE_WEBHOOK_ALLOW: {
    schema: list(z.string().refine(isWebhookTarget)),
    fix: 'set hosts, addresses or networks such as 10.0.0.0/8, separated by commas',
  },
  LOG_LEVEL: {
    schema: z.enum(levels).default('info'),
    fix: `set one of ${levels.join(', ')}`,
  },
} satisfies Record<string, { schema: z.ZodType; fix: string; isSecret?: boolean }>;

export type SettingName = keyof typeof settings;

/** The operator must set all settings for JWTs, or none of them. */
const jwtNames = [
  'PLANT_STORE_JWT_ISSUER',
  'PLANT_STORE_JWT_AUDIENCE',
  'PLANT_STORE_JWT_JWKS_URL',
] as const;

export type Env = { [Name in SettingName]: z.output<(typeof settings)[Name]['schema']> };

/**
 * Reads the settings from environment variables, by default those of the process and of the file `.env`. An
 * empty value counts as not set.
 *
 * @throws Error that names each invalid setting in a line of its own
 */
export function readEnv(variables = loadEnvFile()): Env {
  const errors: string[] = [];
  const entries = Object.entries(settings).map(([name, { schema, fix, ...setting }]) => {
    const value = variables[name] || undefined;
    const { data, success } = schema.safeParse(value);
    const shown = 'isSecret' in setting ? 'is not valid' : `is ${JSON.stringify(value)}`;
    if (!success) errors.push(`${name} ${shown}: ${fix}`);
    return [name, data];
  });
  const missing = jwtNames.filter((name) => !variables[name]);
  if (missing.length < jwtNames.length) {
    for (const name of missing) errors.push(`${name} is not set: ${settings[name].fix}`);
  }
  if (errors.length > 0) throw new Error(errors.join('\n'));
  return Object.fromEntries(entries) as Env; // The cast is safe, because every value has passed its schema.
}

/** Adds the lines of `.env` in the current directory. A variable of the process overrides its line. */
function loadEnvFile(): NodeJS.ProcessEnv {
  try {
    process.loadEnvFile();
  } catch {} // The file is optional.
  return process.env;
}

/** `DATABASE_URL` before `.env` is read. Another terminal may lack this variable, but has the same `.env`. */
const { DATABASE_URL: inheritedUrl } = process.env;

/** Returns the variables with which an operator's command finds the server's Postgres, without a password. */
export function databaseSettings(): Record<string, string> {
  return inheritedUrl ? { DATABASE_URL: withoutPassword(inheritedUrl) } : {};
}

/** Returns the settings of the identity provider, or undefined when the server accepts no JWT. */
export function jwtSettings(env: Env): JwtSettings | undefined {
  const [issuer, audience, jwksUrl] = jwtNames.map((name) => env[name]);
  return issuer && audience && jwksUrl ? { issuer, audience, jwksUrl } : undefined;
}

/** Whether the keys at the URL are safe in transit. With replaced keys, an attacker could forge tokens. */
function isSafeUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username || password) return false; // `fetch` accepts no URL with a password.
  const isLoopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback);
}

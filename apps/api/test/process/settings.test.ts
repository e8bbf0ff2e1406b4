import { readFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import { expect, it } from 'vitest';
import { startPlantStore } from '../../src/index.ts';
import { startProgram } from '../fixtures/program.ts';
import { startForTest } from '../fixtures/server.ts';

/** Returns the error message of a start with settings. The server checks the settings before it connects. */
const errorOf = (settings: Record<string, string>): Promise<string> =>
  startPlantStore({
    databaseUrl: 'postgres://nobody@127.0.0.1:1/none',
    settings: { LOG_LEVEL: 'silent', ...settings },
  }).then(
    () => 'no error',
    (error: Error) => error.message,
  );

it('one message names all invalid settings, without the values of secrets', async () => {
  const invalid = {
    PORT: '70000',
    DATABASE_URL: 'mysql://someone:hidden@db/plants',
    PLANT_STORE_TOKEN: 'two words',
    PLANT_STORE_RATE_LIMIT: '0',
    PLANT_STORE_JWT_ISSUER: 'https://id.example.com',
    PLANT_STORE_JWT_JWKS_URL: 'http://id.example.com/keys',
    PLANT_STORE_TRUST_PROXY: 'true',
    PLANT_STORE_METRICS_PORT: '-1',
    LOG_LEVEL: 'loud',
  };
  const server = startProgram(invalid);
  expect(await server.ended()).toBe(1);
  for (const [name, value] of Object.entries(invalid)) {
    if (name === 'PLANT_STORE_JWT_ISSUER') continue; // This setting is valid.
    const line = new RegExp(`^ *${name} .+: .+$`, 'm').exec(server.output())?.[0];
    expect(line, name).toBeDefined();
    if (/^(PORT|LOG_LEVEL|.*LIMIT)$/.test(name)) expect(line).toContain(`"${value}"`);
  }
  expect(server.output()).toMatch(/PLANT_STORE_JWT_AUDIENCE is not set/);
  expect(server.output()).not.toMatch(/hidden|two words/);
});

const app = 'https://app.example.com';
const jwts = (url: string) => ({
  PLANT_STORE_JWT_ISSUER: 'https://id.example.com',
  PLANT_STORE_JWT_AUDIENCE: 'x',
  PLANT_STORE_JWT_JWKS_URL: url,
});

it.each([
  { PLANT_STORE_CORS_ORIGINS: `${app}, http://localhost:5173` },
  { PLANT_STORE_TRUST_PROXY: '10.0.0.0/8, 127.0.0.1,::1,2001:db8::/32' },
  { PLANT_STORE_TOKEN: 'a'.repeat(16), PLANT_STORE_FEED_DAYS: '36500' },
  { PLANT_STORE_WEBHOOK_ALLOW: '10.0.0.0/8, receiver.internal' },
  jwts('https://id.example.com/keys'),
  jwts('http://localhost:8080/keys'),
  jwts('http://[::1]/keys'),
])('the server starts with the settings %j', async (settings) => {
  const { url } = await startForTest(settings);
  expect((await fetch(`${url}/livez`)).status).toBe(200);
});

it.each([
  ['PORT', ['abc', '-1', '80.5', '1e3', ' ']],
  ['PLANT_STORE_CORS_ORIGINS', ['*', 'app.example.com', `${app}/`, 'https://x:443', `${app},`]],
  ['PLANT_STORE_TRUST_PROXY', ['true', '1', '10.0.0.0/33', 'proxy.example.com', '10.0.0.1,']],
  ['PLANT_STORE_TOKEN', ['a', 'a'.repeat(15), 'two words of a token']],
  ['PLANT_STORE_FEED_DAYS', ['0', '36501', 'week']],
  [
    'PLANT_STORE_JWT_JWKS_URL',
    [
      ...['id.example.com/keys', 'http://id.example.com/keys', 'file:///etc/keys'],
      ...['http://127.0.0.1.example.com/keys', 'https://user:hidden@id.example.com/keys'],
    ],
  ],
])('the server rejects these values of %s: %j', async (name, values) => {
  for (const value of values) {
    const message = await errorOf({ ...(name.includes('JWT') && jwts(value)), [name]: value });
    expect(message).toContain(name);
    expect(message).not.toContain('hidden');
  }
});

it('the file .env.example sets nothing until a user edits it', async () => {
  expect(
    parseEnv(await readFile(new URL('../../../../.env.example', import.meta.url), 'utf8')),
  ).toEqual({});
});

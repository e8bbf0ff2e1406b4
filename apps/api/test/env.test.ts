import { readFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';
import { jwtSettings, readEnv } from '../src/env.ts';

const [issuer, audience] = ['https://id.example.com', 'plant-store'];
const jwts = { PLANT_STORE_JWT_ISSUER: issuer, PLANT_STORE_JWT_AUDIENCE: audience };
const app = 'https://app.example.com';

const valid: Record<string, [text: string, value: unknown][]> = {
  PLANT_STORE_DRAIN_DELAY_MS: [
    ['5000', 5000],
    ['', 1000],
  ],
  PLANT_STORE_TOKEN: [['a'.repeat(16), 'a'.repeat(16)]],
  PLANT_STORE_CORS_ORIGINS: [
    [`${app}, http://localhost:5173`, [app, 'http://localhost:5173']],
    ['', []],
  ],
  PLANT_STORE_TRUST_PROXY: [
    ['10.0.0.1', ['10.0.0.1']],
    ['10.0.0.0/8, 127.0.0.1', ['10.0.0.0/8', '127.0.0.1']],
    ['::1,2001:db8::/32', ['::1', '2001:db8::/32']],
  ],
};

describe.each(Object.entries(valid))('%s', (name, cases) => {
  it.each(cases)('may be %j, which the server reads as %j', (text, value) => {
    expect(readEnv({ [name]: text })).toMatchObject({ [name]: value });
  });
});

const invalid = {
  PORT: [['abc', '-1', '80.5', '1e3', ' '], 'set a port'],
  PLANT_STORE_CORS_ORIGINS: [
    ['*', 'app.example.com', `${app}/`, 'https://x:443', `${app},`],
    'set origins as browsers send them',
  ],
  PLANT_STORE_TRUST_PROXY: [
    ['true', '1', '10.0.0.0/33', 'proxy.example.com', '10.0.0.1,'],
    'set addresses or subnets of proxies',
  ],
} as const;

describe.each(Object.entries(invalid))('%s', (name, [texts, fix]) => {
  it.each(texts)(`must not be %j: ${fix}`, (text) => {
    expect(() => readEnv({ [name]: text })).toThrow(`${name} is ${JSON.stringify(text)}: ${fix}`);
  });
});

it.each(['a', 'a'.repeat(15)])('PLANT_STORE_TOKEN must not be short: %s', (token) => {
  const message = /^PLANT_STORE_TOKEN is not valid: set at least 16 letters/;
  expect(() => readEnv({ PLANT_STORE_TOKEN: token })).toThrow(message);
});

it.each([
  ...['https://id.example.com/keys', 'http://localhost:8080/keys', 'http://127.0.0.1:8080/keys'],
  'http://[::1]/keys',
])('accepts %s as the address of the keys for JWTs', (jwksUrl) => {
  const env = readEnv({ ...jwts, PLANT_STORE_JWT_JWKS_URL: jwksUrl });
  expect(jwtSettings(env)).toEqual({ issuer, audience, jwksUrl });
});

it.each([
  ...['id.example.com/keys', 'http://id.example.com/keys', 'http://127.0.0.1.example.com/keys'],
  ...['http://localhost.example.com/keys', 'https://user:hidden@id.example.com/keys'],
  'file:///etc/keys',
])('rejects %s as the address of the keys for JWTs', (url) => {
  const read = () => readEnv({ ...jwts, PLANT_STORE_JWT_JWKS_URL: url });
  expect(read).toThrow(/^PLANT_STORE_JWT_JWKS_URL is not valid: [^/]*$/);
});

it('returns undefined when no variable configures JWTs', () => {
  expect(jwtSettings(readEnv({}))).toBeUndefined();
});

const read = (path: string) => readFile(new URL(`../../../${path}`, import.meta.url), 'utf8');
const example = await read('.env.example');
const settings = Object.keys(readEnv({}));

it('the file .env.example has exactly the settings of the server, with valid values', () => {
  const uncommented = parseEnv(example.replaceAll(/^#(?=[A-Z])/gm, ''));
  expect(Object.keys(uncommented).toSorted()).toEqual(settings.toSorted());
  expect(() => readEnv(uncommented)).not.toThrow();
});

it('the file .env.example sets nothing until a user edits the file', () => {
  expect(parseEnv(example)).toEqual({});
});

it.each(settings)('docs/configuration.md explains the setting %s', async (name) => {
  expect(await read('docs/configuration.md')).toMatch(new RegExp(`^\\|.*\`${name}\`.*\\|`, 'm'));
});

import { expect, it } from 'vitest';
import { jwtSettings, readEnv } from '../src/env.ts';

const issuer = 'https://id.example.com';
const audience = 'plant-store';
const withKeysFrom = (jwksUrl: string) =>
  readEnv({
    PLANT_STORE_JWT_ISSUER: issuer,
    PLANT_STORE_JWT_AUDIENCE: audience,
    PLANT_STORE_JWT_JWKS_URL: jwksUrl,
  });

it.each([
  'https://id.example.com/keys',
  'http://localhost:8080/keys',
  'http://127.0.0.1:8080/keys',
  'http://[::1]/keys',
])('accepts %s as the address of the keys for JWTs', (jwksUrl) => {
  expect(jwtSettings(withKeysFrom(jwksUrl))).toEqual({ issuer, audience, jwksUrl });
});

it.each([
  'id.example.com/keys',
  'http://id.example.com/keys',
  'http://127.0.0.1.example.com/keys',
  'http://localhost.example.com/keys',
  'https://user:hidden@id.example.com/keys',
  'file:///etc/keys',
])('rejects %s as the address of the keys for JWTs', (jwksUrl) => {
  expect(() => withKeysFrom(jwksUrl)).toThrow(/^PLANT_STORE_JWT_JWKS_URL is not valid: [^/]*$/);
});

it('returns undefined when no variable configures JWTs', () => {
  expect(jwtSettings(readEnv({}))).toBeUndefined();
});

it.each([
  [{ PLANT_STORE_DRAIN_DELAY_MS: '5000' }, 5000],
  [{}, 1000],
])('reads the drain delay from %o', (variables, expected) => {
  expect(readEnv(variables).PLANT_STORE_DRAIN_DELAY_MS).toBe(expected);
});

it('accepts a token of 16 characters, and rejects a shorter token', () => {
  expect(readEnv({ PLANT_STORE_TOKEN: 'a'.repeat(16) }).PLANT_STORE_TOKEN).toBe('a'.repeat(16));
  for (const token of ['a', 'a'.repeat(15)]) {
    const read = () => readEnv({ PLANT_STORE_TOKEN: token });
    expect(read).toThrow(/^PLANT_STORE_TOKEN is not valid: set at least 16 letters/);
  }
});

it.each(['abc', '-1', '80.5', '1e3', ' '])('rejects the port %j', (PORT) => {
  expect(() => readEnv({ PORT })).toThrow(`PORT is ${JSON.stringify(PORT)}`);
});

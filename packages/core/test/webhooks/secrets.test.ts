import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { createSecretBox } from '../../src/webhooks/secrets.ts';

const key = () => randomBytes(32).toString('base64');

it('without a key, stores a secret as it is', () => {
  const { secret, stored } = createSecretBox(undefined).create('partner');
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(stored).toBe(secret);
});

it('with a key, stores a secret that only this key opens, under the same name', () => {
  const box = createSecretBox(key());
  const { secret, stored } = box.create('partner');
  expect(stored).not.toContain(secret.slice(6));
  expect(box.open('partner', stored)).toBe(secret);
  const otherKey = 'PLANT_STORE_SECRETS_KEY is not the key of its secret';
  expect(() => box.open('another', stored)).toThrow(otherKey);
  expect(() => createSecretBox(key()).open('partner', stored)).toThrow(otherKey);
  expect(() => createSecretBox(undefined).open('partner', stored)).toThrow(
    'its secret is encrypted: set PLANT_STORE_SECRETS_KEY',
  );
});

it('with a key, opens a secret that was stored without a key', () => {
  const { secret, stored } = createSecretBox(undefined).create('partner');
  expect(createSecretBox(key()).open('partner', stored)).toBe(secret);
});

import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { createSecretBox } from '../../src/webhooks/secrets.ts';

const key = () => randomBytes(32).toString('base64');

it('does not encrypt a secret when there is no key', () => {
  const { secret, stored } = createSecretBox(undefined).create('partner');
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(stored).toBe(secret);
});

it('decrypts a secret only with the key and the name that encrypted it', () => {
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

it('reads an unencrypted secret even when there is a key', () => {
  const { secret, stored } = createSecretBox(undefined).create('partner');
  expect(createSecretBox(key()).open('partner', stored)).toBe(secret);
});

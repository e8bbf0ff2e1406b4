import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';

/** The prefix of an encrypted secret. The nonce, the encrypted text and the tag follow in base64. */
const prefix = 'aes-256-gcm:';
const [nonceLength, tagLength] = [12, 16];

/**
 * Encrypts and decrypts the secrets in the database.
 *
 * @param key a key for which `isSecretsKey` returns true. Without a key, the secrets are not encrypted.
 */
export function createSecretBox(key: string | undefined) {
  const bytes = key === undefined ? undefined : Buffer.from(key, 'base64');
  return {
    /** Makes a secret. Returns the secret, and the text to store in the database. */
    create(name: string) {
      const secret = `whsec_${randomBytes(32).toString('base64')}`;
      if (!bytes) return { secret, stored: secret };
      const nonce = randomBytes(nonceLength);
      // Decryption checks the name, and rejects a secret that somebody has copied from another endpoint.
      const cipher = createCipheriv('aes-256-gcm', bytes, nonce).setAAD(Buffer.from(name));
      const text = Buffer.concat([cipher.update(secret), cipher.final()]);
      const sealed = Buffer.concat([nonce, text, cipher.getAuthTag()]);
      return { secret, stored: prefix + sealed.toString('base64') };
    },
    /** @throws Error when the stored text is encrypted with another key */
    open(name: string, stored: string): string {
      if (!stored.startsWith(prefix)) return stored;
      if (!bytes) throw new Error('its secret is encrypted: set PLANT_STORE_SECRETS_KEY');
      const sealed = Buffer.from(stored.slice(prefix.length), 'base64');
      const nonce = sealed.subarray(0, nonceLength);
      const decipher = createDecipheriv('aes-256-gcm', bytes, nonce).setAAD(Buffer.from(name));
      decipher.setAuthTag(sealed.subarray(-tagLength));
      try {
        const text = decipher.update(sealed.subarray(nonceLength, -tagLength));
        return Buffer.concat([text, decipher.final()]).toString();
      } catch {
        throw new Error('PLANT_STORE_SECRETS_KEY is not the key of its secret');
      }
    },
  };
}

/** Whether a text encodes 32 bytes in base64. */
export function isSecretsKey(text: string): boolean {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === 32 && bytes.toString('base64') === text;
}

/** Makes the headers of Standard Webhooks 1.0, with a signature for each secret. */
export function sign(secrets: readonly string[], id: string, body: string): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}

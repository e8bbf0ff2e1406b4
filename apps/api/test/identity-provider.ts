import { once } from 'node:events';
import { createServer } from 'node:http';
import {
  type CryptoKey,
  exportJWK,
  type GenerateKeyPairResult,
  generateKeyPair,
  SignJWT,
} from 'jose';
import type { JwtSettings } from '../src/jwt.ts';

export interface IdentityProvider {
  settings: JwtSettings;
  /** How its keys are answered for: as they are, by hanging up, or not at all. */
  mode: 'up' | 'down' | 'silent';
  /** How often it was asked for its keys. */
  asked: number;
  /** Makes a key, publishes it and returns it. */
  addKey(kid: string, alg?: string): Promise<GenerateKeyPairResult>;
  withdrawKey(kid: string): void;
  /** Signs what an access token says, or what is said instead, by a key of its own or another. */
  sign(changes?: Changes): Promise<string>;
  stop(): Promise<void>;
}

interface Changes {
  claims?: Record<string, unknown>;
  header?: Record<string, unknown>;
  key?: CryptoKey | Uint8Array;
}

/** Starts an identity provider that publishes its keys on loopback. */
export async function startIdentityProvider(): Promise<IdentityProvider> {
  const keys = new Map<string, GenerateKeyPairResult & { alg: string }>();
  const server = createServer(async (_request, response) => {
    provider.asked++;
    if (provider.mode === 'down') response.destroy();
    if (provider.mode !== 'up') return;
    const published = [...keys].map(async ([kid, { publicKey, alg }]) => ({
      ...(await exportJWK(publicKey)),
      ...{ kid, alg, use: 'sig' },
    }));
    response.end(JSON.stringify({ keys: await Promise.all(published) }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number }; // It listens on a port, not on a pipe.
  const issuer = 'https://id.example.com/';
  const audience = 'plant-store';

  const provider: IdentityProvider = {
    settings: { issuer, audience, jwksUrl: `http://127.0.0.1:${port}/keys` },
    mode: 'up',
    asked: 0,
    async addKey(kid, alg = 'ES256') {
      const pair = { ...(await generateKeyPair(alg, { extractable: true })), alg };
      keys.set(kid, pair);
      return pair;
    },
    withdrawKey: (kid) => void keys.delete(kid),
    async sign({ claims = {}, header = {}, key } = {}) {
      const [[first, pair] = []] = keys;
      const { kid = first, ...more } = header;
      const own = keys.get(String(kid)) ?? pair;
      const now = Math.floor(Date.now() / 1000);
      const said = { iss: issuer, aud: audience, sub: 'Ann', iat: now, exp: now + 60 };
      const signer = key ?? own?.privateKey;
      if (!signer) throw new Error('there is no key to sign with');
      return new SignJWT({ ...said, ...claims })
        .setProtectedHeader({ alg: own?.alg ?? 'ES256', kid: String(kid), ...more })
        .sign(signer);
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return provider;
}

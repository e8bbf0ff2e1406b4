import { timingSafeEqual } from 'node:crypto';
import { scopes } from '@plant-store/schemas';
import type { Authenticate } from './authentication.ts';

/** An access token that is always valid and has all scopes. */
export interface StaticToken {
  readonly name: string;
  readonly token: string;
}

/** Makes a function that authenticates the given tokens. The function passes other tokens to `fallback`. */
export function acceptStaticTokens(
  tokens: readonly StaticToken[],
  fallback: Authenticate,
): Authenticate {
  const trusted = tokens.map(({ name, token }) => ({
    principal: { name, scopes },
    bytes: Buffer.from(token),
  }));
  return (token) => {
    const bytes = Buffer.from(token);
    const found = trusted.find(
      (each) => each.bytes.length === bytes.length && timingSafeEqual(each.bytes, bytes),
    );
    return found ? found.principal : fallback(token);
  };
}

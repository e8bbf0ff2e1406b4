import { randomBytes } from 'node:crypto';
import { type Scope, scopes } from '@plant-store/schemas';
import { z } from 'zod';
import type { Database } from '../database/database.ts';
import { orUnavailable } from '../database/database-error.ts';
import { createLookUps } from '../group-commit/look-ups.ts';
import { invalidInput } from '../plant-store-error.ts';
import { type AccessToken, createAccessTokenTable, type FoundToken } from './access-token-table.ts';
import { createLastUsedUpdater } from './last-used.ts';
import type { Authentication } from './principal.ts';
import { createPrincipalCache, sha256Of, type TokenOwner } from './principal-cache.ts';

export interface AccessTokens {
  /**
   * Creates a token and returns it. The database stores only the token's SHA-256. Several tokens may have the
   * same name, so that a client can get a new token before the old one expires. Without `scopes`, a token can
   * create and read plants.
   *
   * @throws PlantStoreError `databaseUnavailable`.
   * @throws PlantStoreError `invalidInput` unless the name has 1 to 100 characters and no control characters,
   *   `scopes` is not empty, and the expiry is in the future.
   */
  create(name: string, options?: NewTokenOptions): Promise<string>;
  /**
   * Returns all tokens, even expired and revoked tokens, ordered by name and then by creation time.
   *
   * @throws PlantStoreError `databaseUnavailable`
   */
  list(): Promise<AccessToken[]>;
  /**
   * Revokes every token with this name. The tokens become invalid at once in this process, and within 30 s in
   * other processes. Returns false when there was no token to revoke.
   *
   * @throws PlantStoreError `databaseUnavailable`
   */
  revoke(name: string): Promise<boolean>;
  /**
   * Returns the principal of a token, or undefined when the token is unknown, expired or revoked. Results are
   * cached for up to 30 s. A cached result is returned without a promise.
   *
   * @throws PlantStoreError `databaseUnavailable`; `overloaded` when too many look-ups wait
   */
  authenticate(token: string): Authentication;
}

export interface NewTokenOptions {
  readonly scopes?: readonly Scope[] | undefined;
  /** When the token expires. Default: never. */
  readonly expiresAt?: Date | undefined;
  /** Milliseconds until the token expires, by the database's clock. Replaces `expiresAt`. */
  readonly expiresIn?: number | undefined;
}

/** The shortest time between two updates of a token's last use, in milliseconds. */
const lastUseInterval = 60_000;

/** Makes a token: 256 random bits after a prefix that people and secret scanners recognise. */
export function generateToken(random: (size: number) => Buffer = randomBytes): string {
  return `plant_${random(32).toString('base64url')}`;
}

/** Makes the access tokens of a database. `createPrincipalCache` describes `now` and `elapsed`. */
export function createAccessTokens({
  maxLookUps,
  now = Date.now,
  elapsed = () => performance.now(),
  ...verbs
}: Pick<Database, 'read' | 'write' | 'maxLookUps'> & {
  now?: () => number;
  elapsed?: () => number;
}): AccessTokens {
  const table = createAccessTokenTable(verbs);
  const principals = createPrincipalCache({ find: findOwner, now, elapsed });
  const lookUps = createLookUps<string, FoundToken>({
    find: table.find,
    maxInFlight: maxLookUps,
  });
  const markUsed = createLastUsedUpdater({ table, now });

  return {
    async create(name, { scopes: granted = defaultScopes, expiresAt, expiresIn } = {}) {
      const input = { name, scopes: granted, expiresAt, expiresIn };
      const isFuture = (time: Date) => orUnavailable(table.isFuture(time));
      const { data, error } = await newToken(isFuture).safeParseAsync(input);
      if (error) throw invalidInput(error);
      const token = generateToken();
      await orUnavailable(table.insert({ sha256: sha256Of(token), ...data }));
      return token;
    },

    list: () => orUnavailable(table.list()),

    async revoke(name) {
      const revoked = await orUnavailable(table.revoke(name, new Date(now())));
      principals.forget(revoked);
      return revoked.length > 0;
    },

    authenticate: (token) => principals.get(token),
  };

  async function findOwner(sha256: string): Promise<TokenOwner> {
    const at = now();
    const token = await lookUps.run(sha256);
    const remaining = token?.remaining ?? Number.POSITIVE_INFINITY;
    if (!token || token.revokedAt || remaining <= 0) return noOwner;

    if (at - (token.lastUsedAt?.getTime() ?? 0) >= lastUseInterval) markUsed(sha256);
    const { name, scopes, expiresAt } = token;
    return {
      principal: { name, scopes, expiresAt: expiresAt ?? undefined },
      validUntil: at + remaining,
    };
  }
}

const defaultScopes: readonly Scope[] = ['plants:create', 'plants:read'];

const noOwner: TokenOwner = { principal: undefined, validUntil: Number.POSITIVE_INFINITY };

const newToken = (isFuture: (time: Date) => Promise<boolean>) =>
  z.object({
    name: z.string('must be a string').regex(/^[^\p{Cc}\p{Cs}]{1,100}$/u, {
      error: 'must have 1 to 100 characters and no control characters',
    }),
    scopes: z
      .array(z.enum(scopes, { error: `must be one of ${scopes.join(', ')}` }))
      .min(1, 'must have at least one'),
    expiresAt: z
      .date({ error: 'must be a date' })
      .refine(isFuture, 'must be in the future')
      .optional(),
    expiresIn: z
      .number({ error: 'must be a number of milliseconds' })
      .positive('must be more than 0')
      .optional(),
  });

import { randomBytes } from 'node:crypto';
import { type Scope, scopes } from '@plant-store/schemas';
import { z } from 'zod';
import type { Database } from '../database/database.ts';
import { orUnavailable } from '../database/database-error.ts';
import { createLookUps } from '../database/queues/look-ups.ts';
import { invalidInput } from '../plant-store-error.ts';
import { type AccessToken, createAccessTokenTable, type FoundToken } from './access-token-table.ts';
import { createLastUsedUpdater } from './last-used.ts';
import type { Authentication } from './principal.ts';
import { createPrincipalCache, sha256Of, type TokenOwner } from './principal-cache.ts';

export interface AccessTokens {
  /**
   * Creates a token with a name and returns it; the database stores only its SHA-256. Several tokens
   * may have the same name, so that a client can get a new one before the old one expires. A token
   * can create and read plants unless `scopes` says otherwise.
   *
   * @throws PlantStoreError `databaseUnavailable`; `invalidInput` unless the name has 1 to 100
   *   characters without control characters, there is at least one scope, and the expiry is in the
   *   future by the database's clock
   */
  create(name: string, options?: NewTokenOptions): Promise<string>;
  /**
   * All tokens, even expired and revoked ones, ordered by name and then by the time of their creation.
   *
   * @throws PlantStoreError `databaseUnavailable`
   */
  list(): Promise<AccessToken[]>;
  /**
   * Revokes every token with this name: at once in this process, within 30 s in others. Returns false
   * when no token was left to revoke.
   *
   * @throws PlantStoreError `databaseUnavailable`
   */
  revoke(name: string): Promise<boolean>;
  /**
   * The principal of a token; undefined when the token is unknown, expired or revoked. Results are
   * cached for up to 30 s, and a cached result is returned without a promise.
   *
   * @throws PlantStoreError `databaseUnavailable`; `overloaded` when too many look-ups wait
   */
  authenticate(token: string): Authentication;
}

export interface NewTokenOptions {
  readonly scopes?: readonly Scope[] | undefined;
  /** When the token expires. Default: never. */
  readonly expiresAt?: Date | undefined;
  /** Milliseconds until the token expires, by the database's clock. Use it instead of `expiresAt`. */
  readonly expiresIn?: number | undefined;
}

/** The shortest time between two updates of a token's last use, in milliseconds. */
const lastUseInterval = 60_000;

/** Makes a token: 256 random bits after a prefix that people and secret scanners recognise. */
export function generateToken(random: (size: number) => Buffer = randomBytes): string {
  return `plant_${random(32).toString('base64url')}`;
}

/** The access tokens of a database. `createPrincipalCache` describes the clocks. */
export function createAccessTokens({
  run,
  maxLookUps,
  now = Date.now,
  elapsed = () => performance.now(),
}: Pick<Database, 'run' | 'maxLookUps'> & {
  now?: () => number;
  elapsed?: () => number;
}): AccessTokens {
  const table = createAccessTokenTable(run);
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

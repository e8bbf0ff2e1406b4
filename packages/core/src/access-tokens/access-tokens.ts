import { randomBytes } from 'node:crypto';
import {
  type AccessTokenPage,
  defaultPageSize,
  type ListAccessTokens,
  NewAccessToken,
  type Scope,
} from '@plant-store/schemas';
import { z } from 'zod';
import type { Database } from '../database/database.ts';
import type { CallOptions } from '../database/deadline.ts';
import { orUnavailable } from '../database/errors.ts';
import { createLookUps } from '../group-commit/look-ups.ts';
import { insufficientScope, invalidInput, PlantStoreError } from '../plant-store-error.ts';
import { createAccessTokenTable } from './access-token-table.ts';
import { type Authentication, type Principal, representable } from './principal.ts';
import { createPrincipalCache, sha256Of, type TokenOwner } from './principal-cache.ts';

export interface AccessTokens {
  /**
   * Creates a token and returns it. The database stores only the token's SHA-256. Several tokens may have the
   * same name, so that a client can get a new token before the old token expires. Without `scopes`, a token
   * can create and read plants.
   *
   * @throws PlantStoreError `databaseUnavailable`.
   * @throws PlantStoreError `invalidInput` unless the name has 1 to 100 characters and no control characters,
   *   `scopes` is not empty, and the expiry is in the future and before the year 10000.
   */
  create(name: string, options?: NewTokenOptions): Promise<string>;
  /**
   * Creates a token for the owner of another token (the grantor). Also throws the errors of `create`.
   *
   * @throws PlantStoreError `insufficientScope` when the grantor lacks one of the scopes, `invalidInput` when
   *   the new token would expire after the grantor's token, and `tokenInvalid` when the grantor's token was
   *   revoked.
   */
  grant(
    grantor: Principal,
    name: string,
    options: Pick<NewTokenOptions, 'scopes' | 'expiresAt'>,
    call?: CallOptions,
  ): Promise<{ id: string; token: string }>;
  /**
   * Returns a page of the list of all tokens. The newest token comes first. The list includes expired and
   * revoked tokens.
   *
   * @throws PlantStoreError `databaseUnavailable`, or `invalidInput` when no token has the id `after`
   */
  list(query?: Partial<ListAccessTokens>, options?: CallOptions): Promise<AccessTokenPage>;
  /**
   * Revokes every token with this name, or the token with this id. The tokens become invalid immediately in
   * this process, and within 30 s in other processes. Returns false when there was no token to revoke.
   *
   * @throws PlantStoreError `databaseUnavailable`
   */
  revoke(which: string | { id: string }, options?: CallOptions): Promise<boolean>;
  /**
   * Returns the principal of a token, or undefined when the token is unknown, expired or revoked. Results are
   * cached for up to 30 s. A cached result is returned without a promise.
   *
   * @throws PlantStoreError `databaseUnavailable`, or `overloaded` when too many look-ups wait
   */
  authenticate(token: string): Authentication;
}

export interface NewTokenOptions {
  readonly scopes?: readonly Scope[] | undefined;
  /** The time at which the token expires. Default: never. */
  readonly expiresAt?: Date | undefined;
  /** Milliseconds until the token expires, on the database's clock. Replaces `expiresAt`. */
  readonly expiresIn?: number | undefined;
}

/** The minimum time between two updates of a token's last use, in milliseconds. */
const lastUseInterval = 60_000;

/** Makes a token: a prefix that people and secret scanners recognise, and then 256 random bits. */
export function generateToken(): string {
  return `plant_${randomBytes(32).toString('base64url')}`;
}

/** Makes the functions for the access tokens of a database. */
export function createAccessTokens({
  db,
  connections,
  now = Date.now,
  elapsed = () => performance.now(),
}: Pick<Database, 'db' | 'connections'> & {
  now?: () => number;
  elapsed?: () => number;
}): AccessTokens {
  const table = createAccessTokenTable({ db });
  const principals = createPrincipalCache({ find: findOwner, now, elapsed });
  const lookUps = createLookUps({ find: table.find, maxInFlight: connections.reads });
  // One statement updates the last use of several tokens. Only one of these statements runs at a time, so
  // that slow updates occupy only one connection.
  const lastUses = createLookUps({ find: markUsed, maxInFlight: 1 });

  return {
    create: async (name, options) => (await create(name, options)).token,

    async grant(grantor, name, options, call) {
      const { id, token } = await create(name, options, { ...call, grantor });
      // A grantor from the cache may have a token that was revoked up to 30 s ago. Check the grantor's token
      // after the insert: an operator who revokes that token later can see the new token in the list.
      const { tokenId } = grantor;
      const isValid = tokenId === undefined || (await isRevoked(tokenId, call)) === false;
      if (isValid) return { id, token };
      await revoke({ id }, call);
      throw new PlantStoreError('tokenInvalid', 'the access token is revoked: ask for a new one');
    },

    async list({ after, limit = defaultPageSize } = {}, options) {
      const found = await orUnavailable(table.list({ after, limit: limit + 1 }, options));
      const isUnknown = async (id: string) => (await isRevoked(id, options)) === undefined;
      if (found.length === 0 && after !== undefined && (await isUnknown(after))) {
        throw invalid('after is the id of no access token: list the tokens from the start');
      }
      const next = found.length > limit && found[limit - 1]?.id;
      return { tokens: found.slice(0, limit), ...(next && { next }) };
    },

    revoke,
    authenticate: (token) => principals.get(token),
  };

  async function create(
    name: string,
    { scopes, expiresAt, expiresIn }: NewTokenOptions = {},
    { grantor, ...call }: CallOptions & { grantor?: Principal } = {},
  ): Promise<{ id: string; token: string }> {
    const isFuture = (time: Date) => orUnavailable(table.isFuture(time, call));
    const input = { name, scopes, expiresAt, expiresIn };
    const { data, error } = await newToken(isFuture).safeParseAsync(input);
    if (error) throw invalidInput(error);
    if (grantor) checkGrant(grantor, data);
    const token = generateToken();
    const id = await orUnavailable(table.insert({ sha256: sha256Of(token), ...data }, call));
    return { id, token };
  }

  function isRevoked(id: string, call?: CallOptions): Promise<boolean | undefined> {
    return orUnavailable(table.isRevoked(id, call));
  }

  async function revoke(which: string | { id: string }, call?: CallOptions): Promise<boolean> {
    const revoked = await orUnavailable(table.revoke(which, new Date(now()), call));
    principals.forget(revoked);
    return revoked.length > 0;
  }

  async function markUsed(sha256s: string[]) {
    await table.markUsed(sha256s, new Date(now()));
    return new Map<string, never>();
  }

  async function findOwner(sha256: string): Promise<TokenOwner> {
    const at = now();
    const token = await lookUps.run(sha256);
    const remaining = token?.remaining ?? Number.POSITIVE_INFINITY;
    if (!token || token.revokedAt || remaining <= 0) return noOwner;

    if (at - (token.lastUsedAt?.getTime() ?? 0) >= lastUseInterval) {
      // The store ignores an error of this update, because the next look-up updates the time again.
      lastUses.run(sha256).catch(() => {});
    }
    const { name, scopes, expiresAt, id: tokenId } = token;
    return {
      principal: { name, scopes, expiresAt: expiresAt ?? undefined, tokenId },
      validUntil: at + remaining,
    };
  }
}

/** Throws if a token would have a scope that the grantor lacks, or expire after the grantor's token. */
function checkGrant(grantor: Principal, { scopes, expiresAt }: NewAccessToken): void {
  const missing = scopes.find((scope) => !grantor.scopes.includes(scope));
  if (missing) throw insufficientScope(missing);
  const end = representable(grantor.expiresAt);
  if (!end || (expiresAt && expiresAt <= end)) return;
  throw invalid(`expiresAt must be at most ${end.toISOString()}, when your own token expires`);
}

const noOwner: TokenOwner = { principal: undefined, validUntil: Number.POSITIVE_INFINITY };

const newToken = (isFuture: (time: Date) => Promise<boolean>) =>
  NewAccessToken.extend({
    expiresAt: z
      .date({ error: 'must be a date' })
      .max(new Date(Date.UTC(9999, 11, 31, 23, 59, 59, 999)), 'must be before the year 10000')
      .refine(isFuture, 'must be in the future')
      .optional(),
    expiresIn: z
      .number({ error: 'must be a number of milliseconds' })
      .positive('must be more than 0')
      .optional(),
  });

function invalid(message: string): PlantStoreError {
  return new PlantStoreError('invalidInput', `invalid input: ${message}`);
}

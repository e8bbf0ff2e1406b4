import { randomBytes } from 'node:crypto';
import {
  type AccessToken,
  type AccessTokenPage,
  defaultPageSize,
  isScope,
  type ListAccessTokens,
  NewAccessToken,
  type Scope,
} from '@plant-store/schemas';
import { and, desc, eq, getTableColumns, inArray, isNull, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/pg-proxy';
import * as z from 'zod';
import { Batcher, type Call } from '../database/batcher.ts';
import type { Database, Kind } from '../database/database.ts';
import type { CallOptions } from '../database/deadline.ts';
import { explainError, orUnavailable } from '../database/errors.ts';
import { accessTokens } from '../database/tables.ts';
import { check, insufficientScope, invalidInput, PlantStoreError } from '../plant-store-error.ts';
import {
  type Authentication,
  createPrincipalCache,
  type Principal,
  representable,
  sha256Of,
  type TokenOwner,
} from './principals.ts';

/** The access tokens of a store. Each method may throw the PlantStoreError `databaseUnavailable`. */
export interface AccessTokens {
  /**
   * Creates a token and returns it. The database stores only the token's SHA-256. Several tokens may have the
   * same name, so that a client can get a new token before the old token expires.
   *
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
    options: NewTokenOptions,
    call?: CallOptions,
  ): Promise<{ id: string; token: string }>;
  /**
   * Returns a page of the list of all tokens, even of expired and revoked tokens. The newest token comes first.
   *
   * @throws PlantStoreError `invalidInput` when no token has the id `after`
   */
  list(query?: Partial<ListAccessTokens>, call?: CallOptions): Promise<AccessTokenPage>;
  /**
   * Revokes every token with this name, or the token with this id. The tokens become invalid immediately in
   * this process, and within 30 s in other processes. Returns false when there was no token to revoke.
   */
  revoke(which: string | { id: string }, call?: CallOptions): Promise<boolean>;
  /**
   * Returns the principal of a token, or undefined when the token is unknown, expired or revoked. Results are
   * cached for up to 30 s. A cached result is returned without a promise.
   *
   * @throws PlantStoreError `overloaded` when too many look-ups wait
   */
  authenticate(token: string): Authentication;
}

export interface NewTokenOptions {
  /** Default: the token can create and read plants. */
  readonly scopes?: readonly Scope[] | undefined;
  /** The time at which the token expires. Default: never. */
  readonly expiresAt?: Date | undefined;
}

/** The minimum time between two updates of a token's last use, in milliseconds. */
const lastUseInterval = 60_000;

const { sha256: _, ...columns } = getTableColumns(accessTokens);

/** Milliseconds until the expiry, on the database's clock: negative after the expiry, or null for never. */
const remaining = sql<number | null>`
  (extract(epoch from ${accessTokens.expiresAt} - clock_timestamp()) * 1000)::float8`;

/** Makes a token: a prefix that people and secret scanners recognise, and then 256 random bits. */
export function generateToken(): string {
  return `plant_${randomBytes(32).toString('base64url')}`;
}

/** Makes the functions for the access tokens of a database. */
export function createAccessTokens({
  read,
  write,
}: Pick<Database, 'read' | 'write'>): AccessTokens {
  // No exported type names Drizzle, because its types have errors without the drivers of other databases.
  const db = (kind: Kind, call?: CallOptions) =>
    drizzle((text, values) =>
      (/^select\b/i.test(text) ? read : write)(text, values, { kind, ...call }),
    );
  const principals = createPrincipalCache((sha256) => lookUps.run(sha256));
  const lookUps = new Batcher<string, TokenOwner>({
    ...{ send: findOwners, running: 2, batch: 32 },
  });
  /** One update runs at a time, so that a lock on the table does not occupy all connections. */
  const lastUses = new Batcher<string, void>({
    ...{ send: updateLastUse, running: 1, batch: 128 },
  });

  return {
    create: async (name, options) => (await create(check(NewToken, { name, ...options }))).token,

    async grant(grantor, name, options, call) {
      const data = check(NewToken, { name, ...options });
      checkGrant(grantor, data);
      const created = await create(data, call);
      // A grantor from the cache may have a token that was revoked up to 30 s ago. Check the grantor's token
      // after the insert: an operator who revokes that token later can see the new token in the list.
      const { tokenId } = grantor;
      if (tokenId === undefined || (await isRevoked(tokenId, call)) === false) return created;
      await revoke({ id: created.id }, call);
      throw new PlantStoreError('tokenInvalid', 'the access token is revoked: ask for a new one');
    },

    async list({ after, limit = defaultPageSize } = {}, call) {
      const { createdAt, id } = accessTokens;
      const start = sql`(select ${createdAt}, ${id} from ${accessTokens} where ${id} = ${after})`;
      const page = db('reads', call)
        .select(columns)
        .from(accessTokens)
        .where(after === undefined ? undefined : sql`(${createdAt}, ${id}) < ${start}`)
        .orderBy(desc(createdAt), desc(id))
        .limit(limit + 1);
      const rows = await orUnavailable(page);
      if (rows.length === 0 && after && (await isRevoked(after, call)) === undefined) {
        throw invalidInput('after is the id of no access token: list the tokens from the start');
      }
      const next = rows.length > limit && rows[limit - 1]?.id;
      return { tokens: rows.slice(0, limit).map(toAccessToken), ...(next && { next }) };
    },

    revoke,
    authenticate: (token) => principals.get(token),
  };

  async function create({ name, scopes, expiresAt }: NewToken, call?: CallOptions) {
    const [id, token] = [randomBytes(8).toString('hex'), generateToken()];
    const scope = [...new Set(scopes)].join(' ');
    const row = { id, sha256: sha256Of(token), name, scope, expiresAt };
    await orUnavailable(db('deletes', call).insert(accessTokens).values(row));
    return { id, token };
  }

  /** Returns whether the token with this id is revoked. If no token has this id, returns undefined. */
  async function isRevoked(id: string, call?: CallOptions): Promise<boolean | undefined> {
    const { revokedAt } = accessTokens;
    const found = db('reads', call).select({ revokedAt }).from(accessTokens);
    const [row] = await orUnavailable(found.where(eq(accessTokens.id, id)));
    return row && row.revokedAt !== null;
  }

  async function revoke(which: string | { id: string }, call?: CallOptions): Promise<boolean> {
    const { id, name, revokedAt, sha256 } = accessTokens;
    const isNamed = typeof which === 'string';
    const revoked = db('deletes', call)
      .update(accessTokens)
      .set({ revokedAt: sql`coalesce(${revokedAt}, now())` })
      .where(isNamed ? and(eq(name, which), isNull(revokedAt)) : eq(id, which.id))
      .returning({ sha256 });
    const rows = await orUnavailable(revoked);
    principals.forget(rows.map((row) => row.sha256));
    return rows.length > 0;
  }

  /** Looks up the owners of several tokens in one statement. */
  async function findOwners(calls: readonly Call<string, TokenOwner>[]): Promise<void> {
    try {
      const rows = await db('reads')
        .select({ ...columns, sha256: accessTokens.sha256, remaining })
        .from(accessTokens)
        .where(inArray(accessTokens.sha256, [...new Set(calls.map(({ input }) => input))]));
      const found = new Map(rows.map((row) => [row.sha256, row]));
      for (const call of calls) call.resolve(ownerOf(found.get(call.input)));
      const isOld = ({ lastUsedAt }: Row) => Date.now() - Number(lastUsedAt) >= lastUseInterval;
      // Nobody waits for the update: after an error, the next look-up updates the time again.
      for (const { id } of rows.filter(isOld)) lastUses.run(id).catch(() => {});
    } catch (error) {
      for (const call of calls) call.reject(explainError(error));
    }
  }

  async function updateLastUse(calls: readonly Call<string, void>[]): Promise<void> {
    const { id } = accessTokens;
    // The statement skips locked rows, because a wait for a row could deadlock with a revocation.
    const unlocked = db('deletes')
      .select({ id })
      .from(accessTokens)
      .where(inArray(id, [...new Set(calls.map(({ input }) => input))]))
      .for('update', { skipLocked: true });
    const update = db('deletes').update(accessTokens).set({ lastUsedAt: sql`now()` });
    await update.where(inArray(id, unlocked)).catch(() => {});
    for (const call of calls) call.resolve();
  }
}

type Row = Omit<typeof accessTokens.$inferSelect, 'sha256'>;

function ownerOf(row: (Row & { remaining: number | null }) | undefined): TokenOwner {
  const validFor = row?.remaining ?? undefined;
  if (!row || row.revokedAt || (validFor !== undefined && validFor <= 0)) {
    return { principal: undefined };
  }
  const { name, scopes, expiresAt, id: tokenId } = toAccessToken(row);
  return { principal: { name, scopes: scopes.filter(isScope), expiresAt, tokenId }, validFor };
}

function toAccessToken({ scope, lastUsedAt, revokedAt, ...row }: Row): AccessToken {
  const expiresAt = representable(row.expiresAt);
  return {
    ...{ id: row.id, name: row.name, createdAt: row.createdAt },
    scopes: scope.split(' ').filter(isScope),
    ...(expiresAt && { expiresAt }),
    ...(lastUsedAt && { lastUsedAt }),
    ...(revokedAt && { revokedAt }),
  };
}

/** Throws if a token would have a scope that the grantor lacks, or expire after the grantor's token. */
function checkGrant(grantor: Principal, { scopes, expiresAt }: NewToken): void {
  const missing = scopes.find((scope) => !grantor.scopes.includes(scope));
  if (missing) throw insufficientScope(missing);
  const end = representable(grantor.expiresAt);
  if (!end || (expiresAt && expiresAt <= end)) return;
  throw invalidInput(`expiresAt must be at most ${end.toISOString()}, when your own token expires`);
}

type NewToken = z.output<typeof NewToken>;
const NewToken = NewAccessToken.extend({
  expiresAt: z
    .date({ error: 'must be a date' })
    .max(new Date(Date.UTC(9999, 11, 31, 23, 59, 59, 999)), 'must be before the year 10000')
    .refine((time) => time.getTime() > Date.now(), 'must be in the future')
    .optional(),
});

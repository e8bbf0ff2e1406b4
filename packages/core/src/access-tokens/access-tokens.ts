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
import { z } from 'zod';
import { Batcher, type Call } from '../database/batcher.ts';
import type { Database, RunOptions } from '../database/database.ts';
import type { CallOptions } from '../database/deadline.ts';
import { databaseUnavailable, orUnavailable, toStoreError } from '../database/errors.ts';
import { accessTokens } from '../database/tables.ts';
import { insufficientScope, invalidInput, PlantStoreError } from '../plant-store-error.ts';
import {
  type Authentication,
  createPrincipalCache,
  type Principal,
  representable,
  sha256Of,
  type TokenOwner,
} from './principals.ts';

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
  const db = (options: RunOptions) =>
    drizzle((text, values) => (/^select\b/i.test(text) ? read : write)(text, values, options));
  const principals = createPrincipalCache((sha256) => lookUps.run(sha256));
  const lookUps = new Batcher<string, TokenOwner>({
    what: 'look-ups of access tokens',
    send: findOwners,
    late: databaseUnavailable,
    running: 2,
    batch: 32,
  });
  /** The ids of the tokens whose last use must be updated. */
  const used = new Set<string>();
  let isMarking = false;

  return {
    create: async (name, options) => (await create(name, options)).token,

    async grant(grantor, name, options, call) {
      const created = await create(name, options, { ...call, grantor });
      // A grantor from the cache may have a token that was revoked up to 30 s ago. Check the grantor's token
      // after the insert: an operator who revokes that token later can see the new token in the list.
      const { tokenId } = grantor;
      if (tokenId === undefined || (await isRevoked(tokenId, call)) === false) return created;
      await revoke({ id: created.id }, call);
      throw new PlantStoreError('tokenInvalid', 'the access token is revoked: ask for a new one');
    },

    async list({ after, limit = defaultPageSize } = {}, options) {
      const { createdAt, id } = accessTokens;
      const start = sql`(select ${createdAt}, ${id} from ${accessTokens} where ${id} = ${after})`;
      const rows = await orUnavailable(
        db({ kind: 'reads', ...options })
          .select(columns)
          .from(accessTokens)
          .where(after === undefined ? undefined : sql`(${createdAt}, ${id}) < ${start}`)
          .orderBy(desc(createdAt), desc(id))
          .limit(limit + 1),
      );
      if (
        rows.length === 0 &&
        after !== undefined &&
        (await isRevoked(after, options)) === undefined
      ) {
        throw invalid('after is the id of no access token: list the tokens from the start');
      }
      const next = rows.length > limit && rows[limit - 1]?.id;
      return { tokens: rows.slice(0, limit).map(toAccessToken), ...(next && { next }) };
    },

    revoke,
    authenticate: (token) => principals.get(token),
  };

  async function create(
    name: string,
    { scopes, expiresAt, expiresIn }: NewTokenOptions = {},
    { grantor, ...call }: CallOptions & { grantor?: Principal } = {},
  ): Promise<{ id: string; token: string }> {
    const { data, error } = await newToken((time) => isFuture(time, call)).safeParseAsync({
      name,
      scopes,
      expiresAt,
      expiresIn,
    });
    if (error) throw invalidInput(error);
    if (grantor) checkGrant(grantor, data);
    const token = generateToken();
    const row = {
      id: randomBytes(8).toString('hex'),
      sha256: sha256Of(token),
      name: data.name,
      scope: [...new Set(data.scopes)].join(' '),
      expiresAt:
        data.expiresIn === undefined
          ? data.expiresAt
          : sql`now() + make_interval(secs => ${data.expiresIn / 1_000}::float8)`,
    };
    await orUnavailable(
      db({ kind: 'deletes', ...call })
        .insert(accessTokens)
        .values(row),
    );
    return { id: row.id, token };
  }

  /** Compares a time with the database's clock, as numbers: Postgres cannot read each time of JavaScript. */
  async function isFuture(time: Date, call: CallOptions): Promise<boolean> {
    const isFuture = sql<boolean>`${time.getTime()}::float8 > extract(epoch from now()) * 1000`;
    const nothing = sql`(select) as nothing`;
    const [row] = await orUnavailable(
      db({ kind: 'reads', ...call })
        .select({ isFuture })
        .from(nothing),
    );
    return row?.isFuture === true;
  }

  /** Returns whether the token with this id is revoked. If no token has this id, returns undefined. */
  async function isRevoked(id: string, call?: CallOptions): Promise<boolean | undefined> {
    const [row] = await orUnavailable(
      db({ kind: 'reads', ...call })
        .select({ revokedAt: accessTokens.revokedAt })
        .from(accessTokens)
        .where(eq(accessTokens.id, id)),
    );
    return row && row.revokedAt !== null;
  }

  async function revoke(which: string | { id: string }, call?: CallOptions): Promise<boolean> {
    const { id, name, revokedAt, sha256 } = accessTokens;
    const isNamed = typeof which === 'string';
    const rows = await orUnavailable(
      db({ kind: 'deletes', ...call })
        .update(accessTokens)
        .set({ revokedAt: sql`coalesce(${revokedAt}, now())` })
        .where(isNamed ? and(eq(name, which), isNull(revokedAt)) : eq(id, which.id))
        .returning({ sha256 }),
    );
    principals.forget(rows.map((row) => row.sha256));
    return rows.length > 0;
  }

  /** Looks up the owners of several tokens in one statement. */
  async function findOwners(calls: readonly Call<string, TokenOwner>[]): Promise<void> {
    try {
      const rows = await db({ kind: 'reads' })
        .select({ ...columns, sha256: accessTokens.sha256, remaining })
        .from(accessTokens)
        .where(inArray(accessTokens.sha256, [...new Set(calls.map(({ input }) => input))]));
      const found = new Map(rows.map((row) => [row.sha256, row]));
      for (const call of calls) call.resolve(ownerOf(found.get(call.input)));
      const isOld = ({ lastUsedAt }: Row) =>
        Date.now() - (lastUsedAt?.getTime() ?? 0) >= lastUseInterval;
      void markUsed(rows.filter(isOld).map(({ id }) => id));
    } catch (error) {
      for (const call of calls) call.reject(toStoreError(error));
    }
  }

  /**
   * Nobody waits for this update: after an error, the next look-up updates the time again. Only one update runs
   * at a time, so that a lock on the table does not occupy all connections.
   */
  async function markUsed(ids: string[]): Promise<void> {
    for (const id of ids) used.add(id);
    if (isMarking) return;
    isMarking = true;
    while (used.size > 0) {
      // The statement skips locked rows, because a wait for a row could deadlock with a revocation.
      const unlocked = db({ kind: 'deletes' })
        .select({ id: accessTokens.id })
        .from(accessTokens)
        .where(inArray(accessTokens.id, [...used]))
        .for('update', { skipLocked: true });
      used.clear();
      await db({ kind: 'deletes' })
        .update(accessTokens)
        .set({ lastUsedAt: sql`now()` })
        .where(inArray(accessTokens.id, unlocked))
        .catch(() => {});
    }
    isMarking = false;
  }
}

type Row = Omit<typeof accessTokens.$inferSelect, 'sha256'>;

function ownerOf(token: (Row & { remaining: number | null }) | undefined): TokenOwner {
  const validFor = token?.remaining ?? undefined;
  if (!token || token.revokedAt || (validFor !== undefined && validFor <= 0)) {
    return { principal: undefined };
  }
  const { name, scopes, expiresAt, id: tokenId } = toAccessToken(token);
  return { principal: { name, scopes: scopes.filter(isScope), expiresAt, tokenId }, validFor };
}

function toAccessToken(row: Row): AccessToken {
  const { id, name, scope, createdAt, lastUsedAt, revokedAt } = row;
  const expiresAt = representable(row.expiresAt);
  return {
    id,
    name,
    scopes: scope.split(' ').filter(isScope),
    createdAt,
    ...(expiresAt && { expiresAt }),
    ...(lastUsedAt && { lastUsedAt }),
    ...(revokedAt && { revokedAt }),
  };
}

/** Throws if a token would have a scope that the grantor lacks, or expire after the grantor's token. */
function checkGrant(grantor: Principal, { scopes, expiresAt }: NewAccessToken): void {
  const missing = scopes.find((scope) => !grantor.scopes.includes(scope));
  if (missing) throw insufficientScope(missing);
  const end = representable(grantor.expiresAt);
  if (!end || (expiresAt && expiresAt <= end)) return;
  throw invalid(`expiresAt must be at most ${end.toISOString()}, when your own token expires`);
}

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

import { randomBytes } from 'node:crypto';
import {
  type AccessToken,
  type AccessTokenPage,
  defaultPageSize,
  isScope,
  type ListAccessTokens,
  NewAccessToken,
} from '@plant-store/schemas';
import * as z from 'zod';
import { Batcher, type Call } from '../database/batcher.ts';
import type { Database, Kind } from '../database/database.ts';
import type { CallOptions } from '../database/deadline.ts';
import { orm, pgProxy } from '../database/drizzle.ts';
import { orUnavailable } from '../database/errors.ts';
import { accessTokens } from '../database/tables.ts';
import { check, insufficientScope, invalidInput, PlantStoreError } from '../plant-store-error.ts';
import {
  type Authentication,
  createPrincipalCache,
  type Principal,
  representable,
  sha256Of,
} from './principals.ts';

const { and, desc, eq, getTableColumns, inArray, isNull, sql } = orm;

/** The access tokens of a store. Each method may throw the PlantStoreError `databaseUnavailable`. */
export interface AccessTokens {
  /**
   * Creates a token and returns it. The database stores only the token's SHA-256. Several tokens may have the
   * same name, so that a client can get a new token before the old token expires.
   *
   * @throws PlantStoreError `invalidInput` when an argument is invalid. The name has 1 to 100 characters, and
   *   no control characters. `scopes` is not empty. The expiry is in the future, before the year 10000.
   */
  create(name: string, options?: NewTokenOptions): Promise<string>;
  /**
   * Creates a token with at most the scopes of the grantor. Also throws the errors of `create`.
   *
   * @throws PlantStoreError `insufficientScope` when the grantor lacks one of the scopes.
   * @throws PlantStoreError `invalidInput` when the new token would expire after the grantor's token.
   * @throws PlantStoreError `tokenInvalid` when the grantor's token was revoked.
   */
  grant(
    grantor: Principal,
    name: string,
    options: NewTokenOptions,
    call?: CallOptions,
  ): Promise<{ id: string; token: string }>;
  /** Returns a page of tokens, even of expired and revoked tokens. The newest token comes first. */
  list(page?: Partial<ListAccessTokens>, call?: CallOptions): Promise<AccessTokenPage>;
  /**
   * Revokes every token with this name, or the token with this id. The tokens become invalid immediately in
   * this process, and within 30 s in other processes. Returns false when no token has the id, or when each token
   * with the name was already revoked.
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

/** By default, the scopes let the token create and read plants, and the token never expires. */
export type NewTokenOptions = Omit<z.input<typeof NewToken>, 'name'>;

/** The minimum time between two updates of a token's last use, in milliseconds. */
const lastUseInterval = 60_000;

const { sha256: _, ...columns } = getTableColumns(accessTokens);

/** Makes a token: a prefix that people and secret scanners recognise, and then 256 random bits. */
export function generateToken(): string {
  return `plant_${randomBytes(32).toString('base64url')}`;
}

export function createAccessTokens({
  read,
  write,
}: Pick<Database, 'read' | 'write'>): AccessTokens {
  // Exported types do not name Drizzle's types, which have errors without the drivers of other databases.
  const db = (kind: Kind, call?: CallOptions) =>
    pgProxy.drizzle((text, values) =>
      (/^select\b/i.test(text) ? read : write)(text, values, { kind, ...call }),
    );
  const principals = createPrincipalCache((sha256) => lookUps.run(sha256));
  const lookUps = new Batcher<string, Principal | undefined>({
    ...{ send: findPrincipals, running: 2, startAt: 32 },
  });
  /** One update runs at a time, so that a lock on the table does not occupy all connections for edits. */
  const lastUses = new Batcher<string, void>({ send: updateLastUse, running: 1, startAt: 128 });

  return {
    create: async (name, options) => (await create(check(NewToken, { name, ...options }))).token,

    async grant(grantor, name, options, call) {
      const token = check(NewToken, { name, ...options });
      const missing = token.scopes.find((scope) => !grantor.scopes.includes(scope));
      if (missing) throw insufficientScope(missing);
      const end = representable(grantor.expiresAt);
      if (end && !(token.expiresAt && token.expiresAt <= end)) {
        const latest = `${end.toISOString()}, when your own token expires`;
        throw invalidInput(`expiresAt must be at most ${latest}`);
      }
      const created = await create(token, call);
      // The cache may contain a grantor whose token is revoked. A person who revokes the grantor's token
      // after this check sees the new token in the list.
      if (grantor.tokenId !== undefined && (await isRevoked(grantor.tokenId, call)) !== false) {
        const revoked = db('edits', call).update(accessTokens).set({ revokedAt: sql`now()` });
        await orUnavailable(revoked.where(eq(accessTokens.id, created.id)));
        throw new PlantStoreError('tokenInvalid', 'the access token is revoked: ask for a new one');
      }
      return created;
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
      const next = rows.length > limit && rows[limit - 1]?.id;
      return { tokens: rows.slice(0, limit).map(toAccessToken), ...(next && { next }) };
    },

    async revoke(which, call) {
      const { id, name, revokedAt, sha256 } = accessTokens;
      const isNamed = typeof which === 'string';
      const revoked = db('edits', call)
        .update(accessTokens)
        .set({ revokedAt: sql`coalesce(${revokedAt}, now())` })
        .where(isNamed ? and(eq(name, which), isNull(revokedAt)) : eq(id, which.id))
        .returning({ sha256 });
      const rows = await orUnavailable(revoked);
      principals.forget(rows.map((row) => row.sha256));
      return rows.length > 0;
    },

    authenticate: (token) => principals.get(token),
  };

  async function create(options: z.output<typeof NewToken>, call?: CallOptions) {
    const { name, scopes, expiresAt } = options;
    const [id, token] = [randomBytes(8).toString('hex'), generateToken()];
    const row = { id, sha256: sha256Of(token), name, scope: scopes.join(' '), expiresAt };
    await orUnavailable(db('edits', call).insert(accessTokens).values(row));
    return { id, token };
  }

  /** Returns whether the token with this id is revoked. If no token has this id, returns undefined. */
  async function isRevoked(id: string, call?: CallOptions): Promise<boolean | undefined> {
    const { revokedAt } = accessTokens;
    const found = db('reads', call).select({ revokedAt }).from(accessTokens);
    const [row] = await orUnavailable(found.where(eq(accessTokens.id, id)));
    return row && row.revokedAt !== null;
  }

  /** Looks up the principals of several tokens in one statement. */
  async function findPrincipals(calls: readonly Call<string, Principal | undefined>[]) {
    const { sha256 } = accessTokens;
    const found = db('reads').select().from(accessTokens);
    const rows = await found.where(inArray(sha256, [...new Set(calls.map(({ input }) => input))]));
    const bySha256 = new Map(rows.map((row) => [row.sha256, row]));
    for (const call of calls) call.resolve(toPrincipal(bySha256.get(call.input)));
    const isOld = ({ lastUsedAt }: Row) => Date.now() - Number(lastUsedAt) >= lastUseInterval;
    // Nobody waits for the update. After an error, the next look-up tries the update again.
    for (const { id } of rows.filter(isOld)) lastUses.run(id).catch(() => {});
  }

  async function updateLastUse(calls: readonly Call<string, void>[]): Promise<void> {
    const { id } = accessTokens;
    const used = inArray(id, [...new Set(calls.map(({ input }) => input))]);
    const update = db('edits').update(accessTokens).set({ lastUsedAt: sql`now()` });
    // The statement skips locked rows, because a wait for a row could deadlock with a revocation.
    const unlocked = sql`(select ${id} from ${accessTokens} where ${used} for update skip locked)`;
    await update.where(sql`${id} in ${unlocked}`).catch(() => {});
    for (const call of calls) call.resolve();
  }
}

type Row = Omit<typeof accessTokens.$inferSelect, 'sha256'>;

function toPrincipal(row: Row | undefined): Principal | undefined {
  if (!row || row.revokedAt || (row.expiresAt && row.expiresAt.getTime() <= Date.now())) return;
  const { name, scopes, expiresAt, id: tokenId } = toAccessToken(row);
  return { name, scopes: scopes.filter(isScope), expiresAt, tokenId };
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

const NewToken = NewAccessToken.extend({
  scopes: NewAccessToken.shape.scopes.transform((scopes) => [...new Set(scopes)]),
  expiresAt: z
    .date({ error: 'must be a date' })
    .max(new Date(Date.UTC(9999, 11, 31, 23, 59, 59, 999)), 'must be before the year 10000')
    .refine((time) => time.getTime() > Date.now(), 'must be in the future')
    .optional(),
});

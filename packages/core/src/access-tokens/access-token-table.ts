import { type AccessToken, isScope, type NewAccessToken } from '@plant-store/schemas';
import { and, desc, eq, getTableColumns, inArray, isNull, sql } from 'drizzle-orm';
import type { Database } from '../database/database.ts';
import type { CallOptions, Deadline } from '../database/deadline.ts';
import { accessTokens } from '../tables/tables.ts';
import { representable } from './principal.ts';

type Row = Omit<typeof accessTokens.$inferSelect, 'sha256'>;

type NewToken = NewAccessToken & { sha256: string; expiresIn?: number | undefined };

/** Milliseconds until the expiry, on the database's clock: negative after the expiry, or null for never. */
const remaining = sql<number | null>`
  (extract(epoch from ${accessTokens.expiresAt} - clock_timestamp()) * 1000)::float8`;

/** Makes the statements for access tokens. A request needs only `find` and `markUsed`. */
export function createAccessTokenTable(database: Pick<Database, 'db'>) {
  // A lock on the table may block updates, so updates must not occupy the connections for look-ups.
  const over = (options?: CallOptions) => database.db({ kind: 'deletes', ...options });
  const db = over();
  const { id, sha256: hash, name: tokenName, createdAt, revokedAt } = accessTokens;
  const { sha256: _, ...columns } = getTableColumns(accessTokens);

  return {
    async insert(
      { scopes, expiresAt, expiresIn, ...row }: NewToken,
      options?: CallOptions,
    ): Promise<string> {
      const expiry =
        expiresIn === undefined
          ? expiresAt
          : sql`now() + make_interval(secs => ${expiresIn / 1000}::float8)`;
      const scope = [...new Set(scopes)].join(' ');
      const [inserted] = await over(options)
        .insert(accessTokens)
        .values({ ...row, scope, ...(expiry && { expiresAt: expiry }) })
        .returning({ id });
      return inserted?.id ?? '';
    },

    /**
     * Whether a time is in the future on the database's clock. Compares numbers, because Postgres cannot read
     * each time of JavaScript.
     */
    async isFuture(time: Date, options?: CallOptions): Promise<boolean> {
      const isFuture = sql<boolean>`${time.getTime()}::float8 > extract(epoch from now()) * 1000`;
      const [row] = await over(options).select({ isFuture }).from(sql`(select) as nothing`);
      return row?.isFuture === true;
    },

    /** Finds the tokens with these hashes. Each key of the returned map is a hash. */
    async find(sha256s: readonly string[], deadline: Deadline) {
      const rows = await database
        .db({ kind: 'reads', deadline })
        .select({ ...columns, hash, remaining })
        .from(accessTokens)
        .where(inArray(hash, sha256s));
      return new Map(rows.map(({ hash, ...row }) => [hash, withScopes(row)]));
    },

    /** Lists at most `limit` tokens after the token with the id `after`. The newest token is the first. */
    async list(
      { after, limit }: { after?: string | undefined; limit: number },
      options?: CallOptions,
    ): Promise<AccessToken[]> {
      const start = sql`(select ${createdAt}, ${id} from ${accessTokens} where ${id} = ${after})`;
      const rows = await over(options)
        .select(columns)
        .from(accessTokens)
        .where(after === undefined ? undefined : sql`(${createdAt}, ${id}) < ${start}`)
        .orderBy(desc(createdAt), desc(id))
        .limit(limit);
      return rows.map(toAccessToken);
    },

    /** Returns whether the token with this id is revoked. If no token has this id, returns undefined. */
    async isRevoked(wanted: string, options?: CallOptions): Promise<boolean | undefined> {
      const found = over(options).select({ revokedAt }).from(accessTokens).where(eq(id, wanted));
      const [row] = await found;
      return row && row.revokedAt !== null;
    },

    /**
     * Revokes the token with an id, or all unrevoked tokens with a name. Returns the hashes of these tokens.
     * If a token is already revoked, the time of its revocation does not change.
     */
    async revoke(which: string | { id: string }, at: Date, options?: CallOptions) {
      const rows = await over(options)
        .update(accessTokens)
        .set({ revokedAt: sql`coalesce(${revokedAt}, ${at.toISOString()}::timestamptz)` })
        .where(
          typeof which === 'string'
            ? and(eq(tokenName, which), isNull(revokedAt))
            : eq(id, which.id),
        )
        .returning({ sha256: hash });
      return rows.map(({ sha256 }) => sha256);
    },

    async markUsed(sha256s: readonly string[], at: Date): Promise<void> {
      // The statement skips locked rows, because a wait for a row could deadlock with a revocation.
      const unlocked = db
        .select({ hash })
        .from(accessTokens)
        .where(inArray(hash, sha256s))
        .for('update', { skipLocked: true });
      await db.update(accessTokens).set({ lastUsedAt: at }).where(inArray(hash, unlocked));
    },
  };
}

function withScopes<Row extends { scope: string }>({ scope, ...row }: Row) {
  return { ...row, scopes: scope.split(' ').filter(isScope) };
}

function toAccessToken(row: Row): AccessToken {
  const { id, name, scopes, createdAt, lastUsedAt, revokedAt } = withScopes(row);
  const expiresAt = representable(row.expiresAt);
  return {
    ...{ id, name, scopes, createdAt },
    ...(expiresAt && { expiresAt }),
    ...(lastUsedAt && { lastUsedAt }),
    ...(revokedAt && { revokedAt }),
  };
}

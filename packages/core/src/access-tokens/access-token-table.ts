import { isScope, type Scope } from '@plant-store/schemas';
import { and, eq, getTableColumns, inArray, isNull, sql } from 'drizzle-orm';
import type { Deadline } from '../database/deadline.ts';
import { drizzleOver } from '../database/drizzle-over.ts';
import type { Verbs } from '../database/verbs.ts';
import { accessTokens } from '../tables/tables.ts';

/** The public properties of an access token. The token itself and its hash stay secret. */
export interface AccessToken {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: Date;
  /** Null when the token never expires. */
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  /**
   * The time of the last use. This time may be 90 s too early, because the store updates the time about once
   * a minute. Null before the first use.
   */
  readonly lastUsedAt: Date | null;
}

/** An access token with its remaining lifetime. */
export interface FoundToken extends AccessToken {
  /**
   * Milliseconds until the token expires, by the database's clock. Negative for an expired token, and null
   * for a token that never expires.
   */
  readonly remaining: number | null;
}

interface NewToken {
  readonly sha256: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt?: Date | undefined;
  /** Milliseconds from now until the token expires. */
  readonly expiresIn?: number | undefined;
}

const remaining = sql<number | null>`
  (extract(epoch from ${accessTokens.expiresAt} - clock_timestamp()) * 1000)::float8`;

export type AccessTokenTable = ReturnType<typeof createAccessTokenTable>;

/** Makes the statements for access tokens. A request needs only `find` and `markUsed`. */
export function createAccessTokenTable({ read, write }: Verbs) {
  // A lock on the table may block these statements, so they must not use the only connection for look-ups.
  const db = drizzleOver(write, { share: 'lists' });
  const { sha256: hash, name: tokenName, createdAt, revokedAt } = accessTokens;
  const { sha256: _, ...columns } = getTableColumns(accessTokens);

  return {
    async insert({ scopes, expiresAt, expiresIn, ...row }: NewToken): Promise<void> {
      const expiry =
        expiresIn === undefined
          ? expiresAt
          : sql`now() + make_interval(secs => ${expiresIn / 1000}::float8)`;
      await db
        .insert(accessTokens)
        .values({ ...row, scope: scopes.join(' '), ...(expiry && { expiresAt: expiry }) });
    },

    /** Whether a time is in the future by the database's clock. */
    async isFuture(time: Date): Promise<boolean> {
      const isFuture = sql<boolean>`${time.toISOString()}::timestamptz > now()`;
      const [row] = await db.select({ isFuture }).from(sql`(select) as nothing`);
      return row?.isFuture === true;
    },

    /** Finds the tokens with these hashes. Each key of the returned map is a hash. */
    async find(sha256s: readonly string[], deadline: Deadline): Promise<Map<string, FoundToken>> {
      const rows = await drizzleOver(read, { share: 'lookUps', deadline })
        .select({ ...getTableColumns(accessTokens), remaining })
        .from(accessTokens)
        .where(inArray(hash, sha256s));
      return new Map(rows.map(({ sha256, ...row }) => [sha256, toAccessToken(row)]));
    },

    async list(): Promise<AccessToken[]> {
      const rows = await db.select(columns).from(accessTokens).orderBy(tokenName, createdAt);
      return rows.map(toAccessToken);
    },

    /** Revokes the unrevoked tokens with this name, and returns the hashes of these tokens. */
    async revoke(name: string, at: Date): Promise<string[]> {
      const rows = await db
        .update(accessTokens)
        .set({ revokedAt: at })
        .where(and(eq(tokenName, name), isNull(revokedAt)))
        .returning({ sha256: hash });
      return rows.map(({ sha256 }) => sha256);
    },

    async markUsed(sha256s: readonly string[], at: Date): Promise<void> {
      // If this statement waited for locked rows, a deadlock with a revocation would be possible.
      const unlocked = db
        .select({ hash })
        .from(accessTokens)
        .where(inArray(hash, sha256s))
        .for('update', { skipLocked: true });
      await db.update(accessTokens).set({ lastUsedAt: at }).where(inArray(hash, unlocked));
    },
  };
}

function toAccessToken<Row extends { scope: string }>({ scope, ...row }: Row) {
  return { ...row, scopes: scope.split(' ').filter(isScope) };
}

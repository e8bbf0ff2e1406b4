import { and, eq, getTableColumns, inArray, isNull } from 'drizzle-orm';
import type { Drizzle } from '../database/database.ts';
import { accessTokens } from '../database/tables.ts';

/** What is known of an access token; neither the token nor its hash is told to anybody. */
export interface AccessToken {
  readonly name: string;
  readonly createdAt: Date;
  /** From when on it is refused; null when it does not expire. */
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  /** Written about once a minute while it is used, so it may be 90 s behind; null when never used. */
  readonly lastUsedAt: Date | null;
}

/** The statements about access tokens. Those of a request are single ones, keyed by the hash. */
export interface AccessTokenTable {
  insert(row: { sha256: string; name: string; expiresAt?: Date | undefined }): Promise<void>;
  /** What is known of the tokens that have these hashes, by hash. */
  find(sha256s: readonly string[]): Promise<Map<string, AccessToken>>;
  /** All of them, by name and age. */
  list(): Promise<AccessToken[]>;
  /** Revokes what is not revoked under a name, and returns the hashes of that. */
  revoke(name: string, at: Date): Promise<string[]>;
  /** Notes the use of those whose rows nobody else holds. */
  markUsed(sha256s: readonly string[], at: Date): Promise<void>;
}

export function createAccessTokenTable(db: Drizzle): AccessTokenTable {
  const { sha256: hash, name: named, createdAt, revokedAt } = accessTokens;
  const { sha256: _, ...told } = getTableColumns(accessTokens);

  return {
    async insert(row) {
      await db.insert(accessTokens).values(row);
    },

    async find(sha256s) {
      const rows = await db.select().from(accessTokens).where(inArray(hash, sha256s));
      return new Map(rows.map(({ sha256, ...token }) => [sha256, token]));
    },

    async list() {
      return db.select(told).from(accessTokens).orderBy(named, createdAt);
    },

    async revoke(name, at) {
      const rows = await db
        .update(accessTokens)
        .set({ revokedAt: at })
        .where(and(eq(named, name), isNull(revokedAt)))
        .returning({ sha256: hash });
      return rows.map(({ sha256 }) => sha256);
    },

    async markUsed(sha256s, at) {
      // One that waited for a row could hold others that a revocation waits for.
      const free = db
        .select({ hash })
        .from(accessTokens)
        .where(inArray(hash, sha256s))
        .for('update', { skipLocked: true });
      await db.update(accessTokens).set({ lastUsedAt: at }).where(inArray(hash, free));
    },
  };
}

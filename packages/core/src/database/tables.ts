import { type AnyColumn, type SQL, sql } from 'drizzle-orm';
import { bigint, customType, index, pgTable, text, timestamp } from 'drizzle-orm/pg-core';

/** A bytea column whose value is hexadecimal text in the code. */
const bytes = customType<{ data: string; driverData: Uint8Array }>({
  dataType: () => 'bytea',
  toDriver: (hex) => Buffer.from(hex, 'hex'),
  fromDriver: (bytea) => Buffer.from(bytea).toString('hex'),
});

const time = (name: string) => timestamp(name, { withTimezone: true });

const createdAt = () => time('created_at').notNull().defaultNow();

// On Citus the primary key is the distribution key, so there is no sequence, trigger or foreign key.
export const plants = pgTable(
  'plants',
  {
    id: bigint({ mode: 'bigint' }).primaryKey(),
    name: text().notNull(),
    tag: text(),
    createdAt: createdAt(),
  },
  ({ id, tag }) => [
    // Of the hash, because an index entry has at most 2,704 bytes and a tag may be longer.
    index('plants_tag').on(tagHash(tag), id).where(sql`${tag} is not null`),
  ],
);

/** The hash of a tag, by which its plants are found. */
export function tagHash(tag: AnyColumn | SQL): SQL {
  return sql`hashtextextended(${tag}, 0)`;
}

// Holds the SHA-256 of a token, never the token itself.
export const accessTokens = pgTable('access_tokens', {
  sha256: bytes().primaryKey(),
  name: text().notNull(),
  // Separated by spaces (RFC 6749 §3.3). A token from before scopes can create, and nothing else.
  scope: text().notNull().default('plants:create'),
  createdAt: createdAt(),
  expiresAt: time('expires_at'),
  revokedAt: time('revoked_at'),
  lastUsedAt: time('last_used_at'),
});

import { bigint, customType, pgTable, text, timestamp } from 'drizzle-orm/pg-core';

/** A bytea column, which the code reads and writes as hexadecimal text. */
const bytes = customType<{ data: string; driverData: Uint8Array }>({
  dataType: () => 'bytea',
  toDriver: (hex) => Buffer.from(hex, 'hex'),
  fromDriver: (bytea) => Buffer.from(bytea).toString('hex'),
});

const time = (name: string) => timestamp(name, { withTimezone: true });

const createdAt = () => time('created_at').notNull().defaultNow();

// The tables can be distributed by their primary keys on Citus: they have no sequence, trigger or
// foreign key.
export const plants = pgTable('plants', {
  id: bigint({ mode: 'bigint' }).primaryKey(),
  name: text().notNull(),
  tag: text(),
  createdAt: createdAt(),
});

// The table has the SHA-256 of each token, never the token itself.
export const accessTokens = pgTable('access_tokens', {
  sha256: bytes().primaryKey(),
  name: text().notNull(),
  createdAt: createdAt(),
  expiresAt: time('expires_at'),
  revokedAt: time('revoked_at'),
  lastUsedAt: time('last_used_at'),
});

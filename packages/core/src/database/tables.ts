import { bigint, customType, pgTable, text, timestamp } from 'drizzle-orm/pg-core';

/** Bytes in the table, hexadecimal text in the code. */
const bytes = customType<{ data: string; driverData: Uint8Array }>({
  dataType: () => 'bytea',
  toDriver: (hex) => Buffer.from(hex, 'hex'),
  fromDriver: (bytea) => Buffer.from(bytea).toString('hex'),
});

const time = (name: string) => timestamp(name, { withTimezone: true });

const createdAt = () => time('created_at').notNull().defaultNow();

// The primary key is also the distribution key on Citus: no sequence, trigger or foreign key here.
export const plants = pgTable('plants', {
  id: bigint({ mode: 'bigint' }).primaryKey(),
  name: text().notNull(),
  tag: text(),
  createdAt: createdAt(),
});

// The token itself is never stored: it is known by its SHA-256.
export const accessTokens = pgTable('access_tokens', {
  sha256: bytes().primaryKey(),
  name: text().notNull(),
  createdAt: createdAt(),
  expiresAt: time('expires_at'),
  revokedAt: time('revoked_at'),
  lastUsedAt: time('last_used_at'),
});

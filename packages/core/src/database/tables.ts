import type { StoredPlant } from '@plant-store/schemas';
import { sql } from 'drizzle-orm';
import {
  bigint,
  customType,
  index,
  type PgColumnBuilderBase,
  pgTable,
  text,
  timestamp,
} from 'drizzle-orm/pg-core';

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
export const plants = pgTable(
  'plants',
  {
    id: bigint({ mode: 'bigint' }).primaryKey(),
    name: text().notNull(),
    tag: text(),
    createdAt: createdAt(),
  } satisfies Record<keyof StoredPlant, PgColumnBuilderBase>,
  ({ id, tag }) => [
    // An index entry has at most 2,704 bytes. A tag may be longer, so the index has its hash.
    index('plants_tag').on(sql`hashtextextended(${tag}, 0)`, id).where(sql`${tag} is not null`),
  ],
);

// The table has the SHA-256 of each token, never the token itself.
export const accessTokens = pgTable('access_tokens', {
  sha256: bytes().primaryKey(),
  name: text().notNull(),
  // Separated by spaces (RFC 6749 §3.3). A token that is older than scopes can only create.
  scope: text().notNull().default('plants:create'),
  createdAt: createdAt(),
  expiresAt: time('expires_at'),
  revokedAt: time('revoked_at'),
  lastUsedAt: time('last_used_at'),
});

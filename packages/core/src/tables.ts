import { bigint, customType, pgTable, text, timestamp } from 'drizzle-orm/pg-core';

const bytea = customType<{ data: Uint8Array }>({ dataType: () => 'bytea' });

const createdAt = () => timestamp('created_at', { withTimezone: true }).notNull().defaultNow();

// The primary key is also the distribution key on Citus: no sequence, trigger or foreign key here.
export const plants = pgTable('plants', {
  id: bigint({ mode: 'bigint' }).primaryKey(),
  name: text().notNull(),
  tag: text(),
  createdAt: createdAt(),
});

// The token itself is never stored: it is known by its SHA-256.
export const accessTokens = pgTable('access_tokens', {
  sha256: bytea().primaryKey(),
  name: text().notNull(),
  createdAt: createdAt(),
});

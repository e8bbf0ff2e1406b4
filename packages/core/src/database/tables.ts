import type { Plant } from '@plant-store/schemas';
import type { PgColumnBuilderBase } from 'drizzle-orm/pg-core';
import { orm, pgCore } from './drizzle.ts';

const { sql } = orm;
const { bigint, customType, index, integer, jsonb, pgTable, primaryKey, text, timestamp, uuid } =
  pgCore;

const time = (name: string) => timestamp(name, { withTimezone: true });

const createdAt = () => time('created_at').notNull().defaultNow();

/** The columns of a plant that a client can replace. */
const content = { name: text().notNull(), tag: text() } satisfies Record<
  keyof Plant,
  PgColumnBuilderBase
>;

/** The number of a transaction. */
const transaction = customType<{ data: string }>({ dataType: () => 'xid8' });

/**
 * SQL for the number of the current transaction. With `synchronous_commit = off`, clients could read a commit
 * that a crash then loses, and another transaction could get the same number. The expression therefore makes
 * the commit wait for the disk.
 */
const thisTransaction = `case when current_setting('synchronous_commit') = 'off'
    then case when set_config('synchronous_commit', 'local', true) = 'local' then pg_current_xact_id() end
    else pg_current_xact_id() end`;

export const plants = pgTable(
  'plants',
  {
    id: bigint({ mode: 'bigint' }).primaryKey(),
    ...content,
    createdAt: createdAt(),
    updatedAt: time('updated_at'),
    /** The transaction that created the plant. This column never changes. */
    createdIn: transaction('created_in').default(sql`pg_current_xact_id()`),
    /** The transaction of the plant's last change, which determines the order of the feed of changes. */
    changedIn: transaction('changed_in').default(sql.raw(thisTransaction)),
  },
  ({ id, tag, changedIn }) => [
    // An index entry may have at most 2,704 bytes. A tag may be longer, so the index contains the tag's hash.
    index('plants_tag').on(sql`hashtextextended(${tag}, 0)`, id).where(sql`${tag} is not null`),
    index('plants_changed_in').on(changedIn, id),
  ],
);

/** The deleted plants that the feed still has. */
export const plantDeletions = pgTable(
  'plant_deletions',
  {
    id: bigint({ mode: 'bigint' }).notNull(),
    ...content,
    createdAt: time('created_at').notNull(),
    updatedAt: time('updated_at'),
    createdIn: transaction('created_in'),
    changedIn: transaction('changed_in').notNull().default(sql.raw(thisTransaction)),
    deletedAt: time('deleted_at').notNull().defaultNow(),
  },
  ({ id, changedIn }) => [
    primaryKey({ columns: [changedIn, id] }),
    index('plant_deletions_id').on(id, changedIn),
  ],
);

/** The state of the feed, in a single row. */
export const plantFeed = pgTable('plant_feed', {
  /** A random part of the epoch of the feed: see `changes/statements.ts`. */
  epoch: uuid().primaryKey().defaultRandom(),
  /** The feed may have forgotten deletions of this transaction and of earlier transactions. */
  forgottenUpTo: transaction('forgotten_up_to').notNull().default(sql`'0'`),
  /**
   * The server that assigned the transaction numbers of the feed. On another server, for example after the
   * restore of a dump, these numbers mean nothing.
   */
  systemIdentifier: bigint('system_identifier', { mode: 'bigint' })
    .notNull()
    .default(sql`(pg_control_system()).system_identifier`),
});

/** The table contains the SHA-256 of each token, in hexadecimal, never the token itself. */
export const accessTokens = pgTable('access_tokens', {
  /** 16 hexadecimal digits, which are not secret. */
  id: text().primaryKey().default(sql`left(md5(gen_random_uuid()::text), 16)`),
  sha256: text().notNull().unique(),
  name: text().notNull(),
  /** The scopes, separated by spaces (RFC 6749 §3.3). */
  scope: text().notNull(),
  createdAt: createdAt(),
  expiresAt: time('expires_at'),
  revokedAt: time('revoked_at'),
  lastUsedAt: time('last_used_at'),
});

/** The webhooks. Each webhook sends the changes to an endpoint by HTTP. */
export const webhooks = pgTable('webhooks', {
  name: text().primaryKey(),
  url: text().notNull(),
  secret: text().notNull(),
  createdAt: createdAt(),
  /** The endpoint has the changes up to this position of the feed. */
  epoch: text().notNull(),
  transaction: transaction('transaction').notNull(),
  lastId: bigint('last_id', { mode: 'bigint' }).notNull(),
  /** The message that the endpoint has not accepted yet, and the position of its last change. */
  messageId: text('message_id'),
  toTransaction: transaction('to_transaction'),
  toId: bigint('to_id', { mode: 'bigint' }),
  /** The number of failed attempts to send the message. */
  failures: integer().notNull().default(0),
  /** The time of the next attempt. An instance that claims the webhook moves this time. */
  dueAt: time('due_at').notNull().defaultNow(),
  pausedAt: time('paused_at'),
  /** The reason why an instance has paused the webhook. Otherwise null. */
  pausedBecause: text('paused_because'),
  lastAttempt: jsonb('last_attempt'),
});

import type { Plant, StoredPlant } from '@plant-store/schemas';
import { sql } from 'drizzle-orm';
import {
  bigint,
  customType,
  index,
  type PgColumnBuilderBase,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uuid,
} from 'drizzle-orm/pg-core';

/** A bytea column, which the code reads and writes as hexadecimal text. */
const bytes = customType<{ data: string; driverData: Uint8Array }>({
  dataType: () => 'bytea',
  toDriver: (hex) => Buffer.from(hex, 'hex'),
  fromDriver: (bytea) => Buffer.from(bytea).toString('hex'),
});

const time = (name: string) => timestamp(name, { withTimezone: true });

const createdAt = () => time('created_at').notNull().defaultNow();

/** The columns of a plant that a client gives. */
function contentColumns() {
  return {
    name: text().notNull(),
    tag: text(),
  } satisfies Record<keyof Plant, PgColumnBuilderBase>;
}

/** The number of a transaction. */
const transaction = customType<{ data: string }>({ dataType: () => 'xid8' });

/**
 * SQL that returns the number of the transaction. With `synchronous_commit = off`, clients could read a
 * commit before it is on the disk, and a crash could give the same number to another transaction. So the
 * commit of a change always waits for the disk. Citus cannot read the form `CASE value WHEN …`.
 */
export const thisTransaction = `case when current_setting('synchronous_commit') = 'off'
    then case when set_config('synchronous_commit', 'local', true) = 'local' then pg_current_xact_id() end
    else pg_current_xact_id() end`;

/** The transaction that wrote a row. The feed of changes is ordered by this column. */
const changedIn = () => transaction('changed_in');

// The tables can be distributed by their primary keys: they have no sequence, trigger or
// foreign key.
export const plants = pgTable(
  'plants',
  {
    id: bigint({ mode: 'bigint' }).primaryKey(),
    ...contentColumns(),
    createdAt: createdAt(),
    // Null in the rows that are older than the column.
    changedIn: changedIn().default(sql.raw(thisTransaction)),
  } satisfies Record<keyof StoredPlant | 'changedIn', PgColumnBuilderBase>,
  ({ id, tag, changedIn }) => [
    // An index entry has at most 2,704 bytes. A tag may be longer, so the index has its hash.
    index('plants_tag').on(sql`hashtextextended(${tag}, 0)`, id).where(sql`${tag} is not null`),
    index('plants_changed_in').on(changedIn, id).where(sql`${changedIn} is not null`),
  ],
);

/** Deleted plants. The feed keeps them for some days. */
export const plantDeletions = pgTable(
  'plant_deletions',
  {
    id: bigint({ mode: 'bigint' }).notNull(),
    ...contentColumns(),
    createdAt: time('created_at').notNull(),
    /** The transaction that created the plant. */
    createdIn: transaction('created_in'),
    changedIn: changedIn().notNull().default(sql.raw(thisTransaction)),
    deletedAt: time('deleted_at').notNull().defaultNow(),
  } satisfies Record<
    keyof StoredPlant | `${'created' | 'changed'}In` | 'deletedAt',
    PgColumnBuilderBase
  >,
  ({ id, changedIn }) => [
    primaryKey({ columns: [changedIn, id] }),
    index('plant_deletions_id').on(id, changedIn),
  ],
);

/** The state of the feed, in one row. */
export const plantFeed = pgTable('plant_feed', {
  /** Each database has its own epoch, and so has each history of a database. */
  epoch: uuid().primaryKey().defaultRandom(),
  /** The last transaction whose deletions are forgotten. */
  forgottenUpTo: transaction('forgotten_up_to').notNull().default(sql`'0'`),
  /**
   * The server whose transaction numbers the feed contains. After a dump is restored on another server, these
   * numbers mean nothing there.
   */
  systemIdentifier: bigint('system_identifier', { mode: 'bigint' })
    .notNull()
    .default(sql`(pg_control_system()).system_identifier`),
  /**
   * The timeline for which the epoch was drawn. A restore or a promotion begins a new timeline on the same
   * server.
   */
  timeline: text().notNull().default(sql`left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)`),
});

// The table has the SHA-256 of each token, never the token itself.
export const accessTokens = pgTable('access_tokens', {
  sha256: bytes().primaryKey(),
  name: text().notNull(),
  // The scopes, separated by spaces (RFC 6749 §3.3). A token that is older than this column can only create.
  scope: text().notNull().default('plants:create'),
  createdAt: createdAt(),
  expiresAt: time('expires_at'),
  revokedAt: time('revoked_at'),
  lastUsedAt: time('last_used_at'),
});

/**
 * Whether Citus has distributed the plants, or has begun to, as a condition in SQL. Citus adds this trigger
 * on each node. A statement cannot name Citus's own tables, because other databases lack them.
 */
export const isCluster = `exists (select from pg_trigger where tgrelid = to_regclass('plants')
  and tgfoid = to_regproc('pg_catalog.citus_truncate_trigger'))`;

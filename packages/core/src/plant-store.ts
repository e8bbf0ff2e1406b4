import { EventEmitter } from 'node:events';
import {
  CountPlants,
  Int64,
  ListPlantChanges,
  ListPlants,
  NewPlant,
  NewPlants,
  Plant,
  type PlantChanges,
  type PlantCount,
  type PlantPage,
  type PlantWithEtag,
} from '@plant-store/schemas';
import * as z from 'zod';
import { type AccessTokens, createAccessTokens } from './access-tokens/access-tokens.ts';
import { Feed, type FollowOptions } from './changes/feed.ts';
import {
  type Database,
  type DatabaseOptions,
  type OpenOptions,
  openDatabase,
  type PoolState,
} from './database/database.ts';
import type { CallOptions } from './database/deadline.ts';
import { check } from './plant-store-error.ts';
import { contentOf } from './plants/content.ts';
import {
  type CommittedBatch,
  type Creates,
  createCreates,
  type ManyCreatesOutcome,
} from './plants/creates.ts';
import { type ConditionalOptions, createEdits, type Edits } from './plants/edits.ts';
import { createReads, type Reads } from './plants/reads.ts';
import { createWebhooks, type WebhookSettings, type Webhooks } from './webhooks/webhooks.ts';

/**
 * Opens the store and migrates its tables. While the Postgres is down, the store opens, and most of its methods
 * throw `databaseUnavailable`, even `ready`. With `requireConnection`, `openPlantStore` itself throws this error.
 *
 * @throws DataDirectoryError when the data directory is not usable.
 * @throws DatabaseSettingsError when the tables are of another version, or when somebody must change the
 *   settings or the URL of the Postgres before the store can use it.
 */
export async function openPlantStore(
  options: DatabaseOptions,
  { webhooks, ...openOptions }: OpenOptions & { webhooks?: WebhookSettings } = {},
): Promise<PlantStore> {
  const database = await openDatabase(options, openOptions);
  return createPlantStore(database, webhooks);
}

function createPlantStore(database: Database, webhookSettings?: WebhookSettings): PlantStore {
  const events = new EventEmitter<StoreEvents>();
  // An error of a listener becomes an uncaught exception, and does not reject a write.
  const warn = (message: string) => process.nextTick(() => events.emit('warning', message));
  const feed = new Feed(database);
  const reads = createReads(database);
  const edits = createEdits(database, feed.notice);
  const creates = createCreates(database, (committed) => {
    feed.notice();
    process.nextTick(() => events.emit('batch', committed));
  });
  const webhooks = createWebhooks(database, feed, warn, webhookSettings);
  const unchecked: PlantStore['unchecked'] = { ...reads, ...edits, ...creates };
  let closed: Promise<void> | undefined;

  return {
    async create(plant, options) {
      const checked = check(NewPlant, plant);
      await unchecked.create(checked, options);
      return contentOf(checked);
    },
    createMany: async (plants, options) =>
      unchecked.createMany(check(NewPlants, { plants }).plants, options),
    get: async (id, options) => (await unchecked.get(checkId(id), options))?.value(),
    list: async (query, options) =>
      (await unchecked.list(check(ListPlants, query), options)).value(),
    count: async (query, options) => unchecked.count(check(CountPlants, query), options),
    replace: async (id, plant, options) =>
      (await unchecked.replace(checkId(id), check(Plant, plant), options))?.value(),
    delete: async (id, options) => unchecked.delete(checkId(id), options),
    changes: async (query, options) =>
      (await feed.changes(check(ListPlantChanges, query), options)).value(),
    async *follow(options) {
      const pages = feed.follow(options);
      for (;;) yield (await pages.next()).value.value();
    },
    unchecked,
    feed,
    accessTokens: createAccessTokens(database),
    webhooks,
    events,
    ready: reads.ready,
    pending: creates.pending,
    pool: database.pool,
    close: () => (closed ??= close()),
  };

  async function close(): Promise<void> {
    feed.close();
    await Promise.all([webhooks.stop(), creates.close(), edits.close()]);
    await database.close();
  }
}

const checkId = (id: bigint) => check(Id, { id }).id;
const Id = z.object({ id: Int64 });

/**
 * The events of a store:
 *
 * - `batch`: an insert statement has been committed. The server does not listen to this event.
 * - `warning`: a message for the operator
 */
export type StoreEvents = { batch: [CommittedBatch]; warning: [string] };

/** Selects a page of plants. Each property is optional. */
export type ListQuery = z.input<typeof ListPlants>;

/**
 * Unless its comment says otherwise, a method that uses the database throws the PlantStoreError `invalidInput`
 * when an argument is invalid, `databaseUnavailable` when the database is down or too slow, `overloaded` when
 * too many similar calls wait, `plantRejected` when a trigger or a constraint of the database stops the call,
 * and `shuttingDown` after `close`.
 */
export interface PlantStore {
  /**
   * Creates a plant, and resolves when the plant is committed. Also resolves when a plant with equal id, name
   * and tag is already stored, so you can safely repeat a create.
   *
   * @throws PlantStoreError `idTaken` when another plant has the id. The other plant stays unchanged.
   * @throws PlantStoreError `overloaded` when too many creates wait, and `shuttingDown` when the store is
   *   closing. In both cases, nothing was written.
   * @throws PlantStoreError `databaseUnavailable` when the database is down, or did not respond in time. The plant
   *   may be stored, so repeat the create.
   * @throws PlantStoreError `invalidInput` when the plant is invalid, or the database cannot store its text.
   */
  create(plant: NewPlant, options?: CallOptions): Promise<Plant>;

  /**
   * Creates 1 to 1,000 plants. Resolves with the outcomes of the plants, in the same order. The store may
   * create only some of the plants. The `error` of an outcome is the error that `create` would throw. If
   * several plants have the same id, the store tries to create them in the order of `plants`.
   *
   * @throws PlantStoreError `invalidInput` when one of the plants is not a valid NewPlant. The store then
   *   creates no plant.
   */
  createMany(plants: readonly NewPlant[], options?: CallOptions): Promise<ManyCreatesOutcome[]>;

  /** Returns the plant with this id and its ETag, or undefined. */
  get(id: bigint, options?: CallOptions): Promise<PlantWithEtag | undefined>;

  /**
   * Returns a page of at most `limit` plants (1 to 1,000; default: 100) in ascending order of id. `tag`
   * selects the plants with this tag. `search` selects the plants whose names contain each word of this text.
   * A page has fewer plants if their names and tags would exceed 1 MiB, and a page of a search may be empty. To
   * read the next page, pass `next` as `after`.
   */
  list(query?: ListQuery, options?: CallOptions): Promise<PlantPage>;

  /**
   * Counts all plants, or the plants with a tag. The count is exact up to a million. Counting more plants takes no
   * longer.
   */
  count(query?: CountPlants, options?: CallOptions): Promise<PlantCount>;

  /**
   * Replaces the name and the tag of a plant. Resolves with the new plant when the replacement is committed.
   * Resolves with undefined when no plant has this id.
   *
   * @throws PlantStoreError `preconditionFailed` when `ifMatch` is set, and no plant with this id has this ETag.
   *   Nothing was written.
   * @throws PlantStoreError `databaseUnavailable` when the database is down, or did not respond in time. The plant
   *   may or may not be replaced. With `ifMatch`, you can safely repeat the call.
   */
  replace(
    id: bigint,
    plant: Plant,
    options?: ConditionalOptions,
  ): Promise<PlantWithEtag | undefined>;

  /**
   * Deletes a plant. Resolves with true when the delete is committed, or with false when no plant has this
   * id. The id is free after the delete.
   *
   * @throws PlantStoreError `preconditionFailed` when `ifMatch` is set, and no plant with this id has this ETag.
   *   Nothing was deleted.
   * @throws PlantStoreError `databaseUnavailable` when the database is down, or did not respond in time. The plant
   *   may or may not be deleted. Without `ifMatch`, a repeated call also deletes a new plant with this id, which
   *   another client may have created meanwhile.
   */
  delete(id: bigint, options?: ConditionalOptions): Promise<boolean>;

  /**
   * Returns the plants that were created, replaced and deleted after a cursor. The changes of one id are in
   * their original order. Without `after`, returns only the cursor of the end of the feed. A page has at most
   * `limit` changes (1 to 1,000; default: 100), and at most 1 MiB of names and tags, or one larger change. `wait`
   * is the maximum number of seconds to wait for a change (0 to 20; default: 0). `close` ends a wait.
   * A plant that was created and deleted after the cursor may appear only as deleted.
   *
   * To copy a store, get a cursor, list the plants, and then read the changes after the cursor. Write each
   * created or updated plant to the copy, in place of the plant with this id. Remove each deleted plant.
   *
   * @throws PlantStoreError `cursorExpired`: empty the copy, and begin again.
   * @throws PlantStoreError `notImplemented` on a read replica.
   * @throws PlantStoreError `databaseUnavailable`, even during a wait.
   */
  changes(query?: Partial<ListPlantChanges>, options?: CallOptions): Promise<PlantChanges>;

  /**
   * Yields the pages of `changes`, and waits for further changes. Temporary errors of the database do not end the
   * generator. Without `after`, the first page contains only the cursor of the end of the feed. An abort of the
   * signal ends a wait immediately, but `return` does not end a wait.
   *
   * @throws PlantStoreError `cursorExpired`, `notImplemented`, `invalidInput` or `shuttingDown`.
   * @throws `signal.reason` when the signal is aborted.
   */
  follow(options?: FollowOptions): AsyncGenerator<PlantChanges, never>;

  /**
   * These methods are for the procedures, which check the inputs themselves. The methods return plants and
   * pages as texts: see `OutputText`.
   */
  readonly unchecked: Pick<
    Creates & Reads & Edits,
    'create' | 'createMany' | 'get' | 'list' | 'count' | 'replace' | 'delete'
  >;

  /** The feed behind `changes` and `follow`. Followers share the texts of the pages. */
  readonly feed: Omit<Feed, 'waitForChanges' | 'read' | 'cursorBefore' | 'notice'>;

  /** The access tokens of the store's clients. */
  readonly accessTokens: AccessTokens;

  /** The webhooks, which send the changes to endpoints by HTTP. */
  readonly webhooks: Webhooks;

  /** See `StoreEvents`. */
  readonly events: EventEmitter<StoreEvents>;

  /**
   * Resolves when the database responds and has the table of plants.
   *
   * @throws PlantStoreError `databaseUnavailable`
   */
  ready(): Promise<void>;

  /** The number of creates that wait for a statement. */
  pending(): { waiting: number };

  /** The state of the store's connections to its database. */
  pool(): PoolState;

  /** Waits for earlier writes of plants, and then closes the database. A second call waits for the first. */
  close(): Promise<void>;
}

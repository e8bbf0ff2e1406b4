import { EventEmitter } from 'node:events';
import type { NewPlant, Plant } from '@plant-store/schemas';
import { type AccessTokens, createAccessTokens } from './access-tokens/access-tokens.ts';
import type { FeedState } from './changes/feed-end.ts';
import { forgetDeletions } from './changes/forget-deletions.ts';
import { createPlantFeed, type PlantFeed } from './changes/plant-feed.ts';
import {
  checkCount,
  checkDays,
  checkId,
  checkLimit,
  withCheckedArguments,
} from './check-arguments.ts';
import type { Database, OpenOptions, PoolState } from './database/database.ts';
import type { CallOptions } from './database/deadline.ts';
import { type DatabaseOptions, openDatabase } from './database/open-database.ts';
import { createMany, type ManyCreatesOutcome } from './group-commit/create-many.ts';
import type { CommittedBatch } from './group-commit/creates.ts';
import { type CreateOptions, createLane } from './group-commit/lane.ts';
import { createLists } from './group-commit/lists.ts';
import {
  type CountQuery,
  createCountUpTo,
  createPlantReader,
  type PlantReader,
} from './plants/plant-reader.ts';
import { searchBounds } from './plants/search.ts';
import { createPlantStatements } from './plants/statements.ts';
import { createWebhooks, type WebhookSettings, type Webhooks } from './webhooks/webhooks.ts';

/**
 * The events of a store:
 *
 * - `batch`: an insert statement has been committed
 * - `warning`: a message for the operator
 */
export type StoreEvents = { batch: [CommittedBatch]; warning: [string] };

export interface PlantStore extends PlantReader, PlantFeed {
  /**
   * Creates a plant, and resolves when the plant is committed. Also resolves when a plant with equal id, name
   * and tag is already stored, so you can safely repeat a create.
   *
   * @throws PlantStoreError `idTaken` when another plant has the id. The other plant stays unchanged.
   * @throws PlantStoreError `overloaded` when too many creates wait, and `shuttingDown` when the store is
   *   closing. Nothing was written.
   * @throws PlantStoreError `databaseUnavailable` when the database did not respond in time. The plant may be
   *   stored, so repeat the create.
   * @throws PlantStoreError `invalidInput` when the plant is invalid, or the database cannot store its text.
   */
  create(plant: NewPlant, options?: CreateOptions): Promise<Plant>;

  /**
   * Creates 1 to 1,000 plants. Resolves with the outcomes of the plants, in the same order. The store may
   * create some plants, but not the other plants of the call. The `error` of an outcome is the error that
   * `create` would throw. Plants with the same id are created one after the other.
   *
   * @throws PlantStoreError `invalidInput` when one of the plants is not a valid NewPlant. If any plant is
   *   invalid, the store creates no plant.
   */
  createMany(plants: readonly NewPlant[], options?: CreateOptions): Promise<ManyCreatesOutcome[]>;

  /**
   * Deletes the plant with this id, and resolves when the delete is committed. Resolves with false when no
   * plant had this id. The id is free after the delete.
   *
   * @throws PlantStoreError `databaseUnavailable`: it is unknown whether the plant was deleted. If you repeat
   *   the call, the second call also deletes a new plant that was created with this id after the first call.
   */
  delete(id: bigint, options?: CallOptions): Promise<boolean>;

  /**
   * Counts all plants, or the plants with a tag. The count stops at `limit`, so counting more plants than
   * `limit` takes no longer.
   *
   * @throws PlantStoreError `databaseUnavailable`, or `overloaded` when too many lists wait
   */
  countUpTo(limit: number, query?: CountQuery, options?: CallOptions): Promise<number>;

  /** The access tokens of the store's clients. */
  readonly accessTokens: AccessTokens;

  /** The endpoints that receive changes from the store by HTTP. */
  readonly webhooks: Webhooks;

  /** See `StoreEvents`. */
  readonly events: EventEmitter<StoreEvents>;

  /** Resolves when the database responds and has the tables, or throws `databaseUnavailable`. */
  ready(): Promise<void>;

  /**
   * The number of creates that wait for a statement, and the number of creates in running statements.
   * `unsettled` is the number of statements that are still committing after their callers got
   * `databaseUnavailable`.
   */
  pending(): { waiting: number; inFlight: number; unsettled: number };

  /** The connection pools of the store. */
  pools(): readonly PoolState[];

  /** The state of the feed. While no follower waits, only `watchFeed` updates the state. */
  feed(): FeedState;

  /**
   * Checks whether a transaction hides changes. If the database was restored or promoted, makes the feed
   * begin anew. A server should call this method every 15 s.
   *
   * @throws PlantStoreError `notImplemented` when the database cannot have a feed, and `databaseUnavailable`
   *   when the database is down or the feed begins anew
   */
  watchFeed(): Promise<void>;

  /**
   * Forgets the deletions that are older than `days` days, and returns the number of forgotten deletions.
   * When the feed forgets a deletion, all cursors before this deletion expire (`cursorExpired`). Does nothing
   * when another instance is forgetting deletions.
   *
   * @throws PlantStoreError `databaseUnavailable`
   */
  forgetDeletions(days: number): Promise<number>;

  /** Ends all waits of `changes` and `follow` with the error `shuttingDown`. Later waits end immediately. */
  stopWaiting(): void;

  /**
   * Waits for all earlier creates, and then closes the database. If you call `close` again, the second call
   * only waits.
   */
  close(): Promise<void>;
}

/**
 * Opens the store and migrates its tables. While the Postgres is unreachable, every call throws
 * `databaseUnavailable`. This includes `ready`.
 *
 * @throws DataDirectoryError when the data directory is not usable.
 * @throws DatabaseSettingsError when somebody must change the settings or the URL of the Postgres before the
 *   store can use it.
 */
export async function openPlantStore(
  options: DatabaseOptions,
  { webhooks, ...openOptions }: OpenOptions & { webhooks?: WebhookSettings } = {},
): Promise<PlantStore> {
  const database = await openDatabase(options, openOptions);
  return createPlantStore(database, options, webhooks);
}

function createPlantStore(
  database: Database,
  options: DatabaseOptions,
  webhookSettings?: WebhookSettings,
): PlantStore {
  const events = new EventEmitter<StoreEvents>();
  const emit = events.emit.bind(events);
  // An error in a listener becomes a process warning, so that the error does not reject the write.
  events.emit = (...event) => {
    try {
      return emit(...event);
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : String(error));
      return true;
    }
  };
  const statements = createPlantStatements(database);
  const lane = createLane({ ...database, statements, onCommit });
  const feed = createPlantFeed(database);
  const bounds = 'dataDirectory' in options ? searchBounds.embedded : searchBounds.postgres;
  const reader = createPlantReader(database, bounds);
  const countUpTo = createCountUpTo(database);
  const webhooks = createWebhooks(database, {
    ...webhookSettings,
    feed,
    warn: (message) => events.emit('warning', message),
  });
  let readiness: Promise<void> | undefined;
  let closed: Promise<void> | undefined;

  return {
    create: lane.create,
    createMany: (plants, options) => createMany(lane, plants, options),
    ...withCheckedArguments({
      ...feed,
      ...reader,
      get: lane.get,
      list: createLists(database, reader.list),
    }),
    countUpTo: async (limit, query, options) =>
      countUpTo(checkLimit(limit), checkCount(query), options),
    async delete(given, options) {
      const id = checkId(given);
      return noticed(lane.delete(id, options));
    },
    feed: feed.state,
    watchFeed: feed.watch,
    async forgetDeletions(given) {
      return forgetDeletions(database, checkDays(given));
    },
    stopWaiting: feed.stopWaiting,
    accessTokens: createAccessTokens(database),
    webhooks,
    events,
    // Concurrent calls of `ready` share one query. Without the shared query, queries would accumulate while
    // the database does not respond.
    ready: () =>
      (readiness ??= statements.ready().finally(() => {
        readiness = undefined;
      })),
    pending() {
      const unsettled = database.pools().reduce((sum, pool) => sum + pool.overdue, 0);
      return { ...lane.pending, unsettled };
    },
    pools: database.pools,
    close: () => (closed ??= close()),
  };

  function onCommit(committed: CommittedBatch): void {
    feed.notice();
    events.emit('batch', committed);
  }

  /** Wakes the waiting followers after a write. */
  function noticed<T>(write: Promise<T>): Promise<T> {
    return write.finally(feed.notice);
  }

  async function close(): Promise<void> {
    feed.stopWaiting();
    await webhooks.stop();
    await lane.drained();
    await database.close();
  }
}

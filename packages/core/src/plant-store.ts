import { EventEmitter } from 'node:events';
import type { NewPlant, Plant } from '@plant-store/schemas';
import { type AccessTokens, createAccessTokens } from './access-tokens/access-tokens.ts';
import { createPlantExporter, type PlantExporter } from './bulk/plant-exporter.ts';
import { createPlantLoader, type PlantLoader } from './bulk/plant-loader.ts';
import { createPlantRemover, type PlantRemover } from './bulk/plant-remover.ts';
import type { FeedState } from './changes/feed-end.ts';
import { forgetDeletions } from './changes/forget-deletions.ts';
import { createPlantFeed, type PlantFeed } from './changes/plant-feed.ts';
import {
  checkId,
  checkIds,
  checkLimit,
  checkPlants,
  withCheckedArguments,
} from './check-arguments.ts';
import type { Database, OpenOptions, PoolState } from './database/database.ts';
import type { CallOptions } from './database/deadline.ts';
import type { ClusterEvents, NodeState, StoreLanes, StoreOptions } from './group-commit/cluster.ts';
import { createMany, type ManyCreatesOutcome } from './group-commit/create-many.ts';
import type { CommittedBatch } from './group-commit/creates.ts';
import type { CreateOptions } from './group-commit/lane.ts';
import { createMainLane } from './group-commit/lanes.ts';
import { createLists } from './group-commit/lists.ts';
import { openDatabase } from './open-database.ts';
import type { CountQuery } from './plants/count-up-to.ts';
import { createPlantReader, type PlantReader } from './plants/plant-reader.ts';
import { searchBounds } from './plants/search.ts';
import { createWebhooks, type WebhookSettings, type Webhooks } from './webhooks/webhooks.ts';

/**
 * The events of a store:
 *
 * - `batch` after each committed insert statement
 * - `node` when the plants of a node of a cluster can no longer be written, or can be written again
 * - `rerouted` when creates of a node begin or stop to go through another node, because this process
 *   cannot reach the node itself
 * - `warning` with a message for the operator
 */
export type StoreEvents = ClusterEvents & { batch: [CommittedBatch] };

export interface PlantStore
  extends PlantReader,
    PlantLoader,
    PlantRemover,
    PlantExporter,
    PlantFeed {
  /**
   * Creates a plant, and resolves when the plant is committed. Also resolves when the same plant (id, name
   * and tag) is already stored, so a create can safely be repeated.
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
   * Creates 1 to 1,000 plants. Resolves with the outcomes of the plants, in the same order. Some plants may
   * be created when other plants of the call are not. The `error` of an outcome is the error that `create`
   * would throw. Plants with the same id are created one after the other.
   *
   * @throws PlantStoreError `invalidInput` when one of the plants is not a valid NewPlant. If one plant is
   *   invalid, no plant is created.
   */
  createMany(plants: readonly NewPlant[], options?: CreateOptions): Promise<ManyCreatesOutcome[]>;

  /**
   * Deletes the plant with this id, and resolves when the delete is committed. Resolves with false when no
   * plant had this id. The id is free after the delete.
   *
   * @throws PlantStoreError `databaseUnavailable`: it is unknown whether the plant was deleted. A repeated
   *   call deletes even a plant that was created under the id since the first call.
   */
  delete(id: bigint, options?: CallOptions): Promise<boolean>;

  /**
   * Counts all plants, or the plants with this tag, up to `limit`. Further plants cost nothing.
   *
   * @throws PlantStoreError `databaseUnavailable`, or `overloaded` when too many lists wait
   */
  countUpTo(limit: number, query?: CountQuery, options?: CallOptions): Promise<number>;

  /** The access tokens of the store's clients. */
  readonly accessTokens: AccessTokens;

  /** The endpoints to which the store sends changes by HTTP. */
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

  /**
   * The nodes of a cluster that store plants, and whether the plants of each node can be written. The state
   * of a node comes from its latest create, or from the latest call of `ready`. If the database is not a
   * cluster, the list is empty.
   */
  nodes(): readonly NodeState[];

  /** When no follower waits, the state comes from the latest `watchFeed`. */
  feed(): FeedState;

  /**
   * Checks whether a transaction hides changes. When the database was restored or promoted, makes its feed
   * begin anew. A server should call this method every 15 s.
   *
   * @throws PlantStoreError `notImplemented` when the database cannot have a feed; `databaseUnavailable`,
   *   even when the feed begins anew
   */
  watchFeed(): Promise<void>;

  /**
   * Forgets the deletions that are older than the given number of days, and returns the number of forgotten
   * deletions. A cursor from before a forgotten deletion expires (`cursorExpired`). Does nothing when another
   * instance is forgetting deletions.
   *
   * @throws PlantStoreError `databaseUnavailable`
   */
  forgetDeletions(days: number): Promise<number>;

  /** Ends all waits of `changes` and `follow` with the error `shuttingDown`. Further waits end at once. */
  stopWaiting(): void;

  /** Waits for all earlier creates, and then closes the database. A second call has no further effect. */
  close(): Promise<void>;
}

/**
 * Opens the store and migrates its tables. As long as the Postgres is unreachable, every call throws
 * `databaseUnavailable`. This includes `ready`.
 *
 * @throws DataDirectoryError when the data directory is not usable.
 * @throws DatabaseSettingsError when somebody must first change the settings or the URL of the Postgres.
 */
export async function openPlantStore(
  options: StoreOptions,
  { webhooks, ...openOptions }: OpenOptions & { webhooks?: WebhookSettings } = {},
): Promise<PlantStore> {
  const database = await openDatabase(options, openOptions);
  return createPlantStore(database, options, webhooks);
}

async function createPlantStore(
  database: Database,
  options: StoreOptions,
  webhookSettings?: WebhookSettings,
): Promise<PlantStore> {
  const cluster = 'databaseUrl' in options ? options.cluster : undefined;
  const events = new EventEmitter<StoreEvents>();
  const emit = events.emit.bind(events);
  // An error in a listener becomes a process warning, so that the write that emits the event does not fail.
  events.emit = (...event) => {
    try {
      return emit(...event);
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : String(error));
      return true;
    }
  };
  const main = createMainLane(database, onCommit, cluster);
  let lanes: StoreLanes = main;
  const { nodes } = database;
  const watch = nodes && (await cluster?.watch({ database, nodes, events, onCommit, main, use }));
  const feed = createPlantFeed(database, watch?.readChanges);
  const bounds = 'dataDirectory' in options ? searchBounds.embedded : searchBounds.postgres;
  const reader = createPlantReader(database, () =>
    lanes.nodes().length > 0 ? searchBounds.cluster : bounds,
  );
  const loader = createPlantLoader(database);
  const exporter = createPlantExporter(database);
  const remover = createPlantRemover(database);
  database.onWarning((message) => events.emit('warning', message));
  const webhooks = createWebhooks(watch?.central ?? database, {
    ...webhookSettings,
    feed,
    warn: (message) => events.emit('warning', message),
  });
  let readiness: Promise<void> | undefined;
  let closed: Promise<void> | undefined;

  return {
    create: (plant, options) => lanes.laneOf(Object(plant).id).create(plant, options),
    createMany: (plants, options) => createMany((id) => lanes.laneOf(id), plants, options),
    ...withCheckedArguments({
      ...feed,
      ...reader,
      get: (id, options) => lanes.laneOf(id).get(id, options),
      list: createLists(database, reader.list),
    }),
    countUpTo: async (limit, ...count) => lanes.countUpTo(checkLimit(limit), ...count),
    export: exporter.export,
    load: async (plants) => noticed(loader.load(checkPlants(plants))),
    async delete(given, options) {
      const id = checkId(given);
      return noticed(lanes.laneOf(id).delete(id, options));
    },
    deleteMany: async (ids) => noticed(remover.deleteMany(checkIds(ids))),
    feed: feed.state,
    watchFeed: feed.watch,
    forgetDeletions: async (days) =>
      (await watch?.forgetDeletions(days)) ?? forgetDeletions(database, days),
    stopWaiting: feed.stopWaiting,
    accessTokens: createAccessTokens(database),
    webhooks,
    events,
    // Concurrent calls of `ready` share one query, so that queries do not accumulate in a silent database.
    ready: () =>
      (readiness ??= lanes.ready().finally(() => {
        readiness = undefined;
      })),
    pending() {
      const pending = lanes.all.map((lane) => lane.pending);
      return {
        waiting: pending.reduce((sum, { waiting }) => sum + waiting, 0),
        inFlight: pending.reduce((sum, { inFlight }) => sum + inFlight, 0),
        unsettled: lanes.pools().reduce((sum, { unsettled }) => sum + unsettled, 0),
      };
    },
    pools: () => lanes.pools(),
    nodes: () => lanes.nodes(),
    close: () => (closed ??= close()),
  };

  function use(next: StoreLanes): void {
    lanes = next;
  }

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
    await Promise.all(lanes.all.map((lane) => lane.drained()));
    await Promise.all([watch?.close(), database.close()]);
  }
}

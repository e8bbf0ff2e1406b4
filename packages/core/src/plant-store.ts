import type { EventEmitter } from 'node:events';
import type { NewPlant, Plant } from '@plant-store/schemas';
import { type AccessTokens, createAccessTokens } from './access-tokens/access-tokens.ts';
import { createFindNode } from './database/cluster/find-node.ts';
import { watchShards } from './database/cluster/watch-shards.ts';
import type { Database, OpenOptions } from './database/database.ts';
import { type DatabaseOptions, openDatabase } from './database/open-database.ts';
import { queryWithTimeout } from './database/timeout.ts';
import { createPlantExporter, type PlantExporter } from './plants/bulk/plant-exporter.ts';
import { createPlantLoader, type PlantLoader } from './plants/bulk/plant-loader.ts';
import { createPlantRemover, type PlantRemover } from './plants/bulk/plant-remover.ts';
import { type CallOptions, timeLeft } from './plants/deadline.ts';
import { createPlantReader, type PlantReader } from './plants/read/plant-reader.ts';
import type { NodeState } from './plants/write/node-health.ts';
import { createPlantTable } from './plants/write/plant-table.ts';
import { createPlantWriter } from './plants/write/plant-writer.ts';
import type { StoreEvents } from './plants/write/write-batcher.ts';

export interface PlantStore extends PlantReader, PlantLoader, PlantRemover, PlantExporter {
  /**
   * Creates a plant; resolves when it is committed. It also resolves when the same plant (id, name
   * and tag) is stored already, so a create can safely be repeated.
   *
   * @throws PlantStoreError `idTaken` when the id belongs to another plant, which stays unchanged;
   *   `overloaded` when too many creates wait, and `shuttingDown` once the store is closing (nothing
   *   was written); `databaseUnavailable` when the database did not answer in time (the plant may be
   *   stored: repeat the create); `invalidInput` when the plant is not a valid NewPlant, or the
   *   database cannot store it
   */
  create(plant: NewPlant, options?: CallOptions): Promise<Plant>;

  /**
   * Deletes the plant with this id; resolves when that is committed, with whether there was one. The
   * id is free afterwards.
   *
   * @throws PlantStoreError `databaseUnavailable`: the plant may be deleted, repeat the call
   */
  delete(id: bigint, options?: CallOptions): Promise<boolean>;

  /** The access tokens of the store's clients. */
  readonly accessTokens: AccessTokens;

  /**
   * Emits `batch` after each committed insert statement, `node` when the plants of a node of a cluster
   * cannot be written any more, or can be written again, and `detour` when creates of a node begin or
   * stop to go through another node, because this process cannot reach it itself.
   */
  readonly events: EventEmitter<StoreEvents>;

  /** Resolves when the database answers and has the tables; throws `databaseUnavailable` otherwise. */
  ready(): Promise<void>;

  /** How many creates wait for a statement, and how many are part of a running statement. */
  pending(): { waiting: number; inFlight: number };

  /**
   * The nodes of a cluster that store plants, and whether those plants can be written, by the latest
   * create on the node and the latest call of `ready`. Empty on a database that is no cluster.
   */
  nodes(): readonly NodeState[];

  /** Waits for all earlier creates, then closes the database. It may be called twice. */
  close(): Promise<void>;
}

/**
 * Opens the store and migrates its tables. A Postgres may be unreachable: until it is reachable,
 * every call, also `ready`, throws `databaseUnavailable`.
 *
 * @throws DataDirectoryError when the data directory cannot be used, DatabaseSettingsError when
 *   somebody must first change the settings or the URL of the Postgres
 */
export async function openPlantStore(
  options: DatabaseOptions,
  openOptions?: OpenOptions,
): Promise<PlantStore> {
  const database = await openDatabase(options, openOptions);
  return createPlantStore(database);
}

function createPlantStore(database: Database): PlantStore {
  const table = createPlantTable(database);
  const shards = watchShards(database.query);
  const findNode = createFindNode(database, shards);
  const writer = createPlantWriter({ database, table, shards, findNode });
  let readiness: Promise<void> | undefined;
  let closed: Promise<void> | undefined;

  return {
    ...createPlantReader(database, findNode),
    ...createPlantLoader(database.bulk, createPlantTable(database.bulk).insert),
    ...createPlantRemover(database.bulk),
    ...createPlantExporter(database.bulk),
    create: writer.create,
    delete: (id, options) => queryWithTimeout(writer.delete(id), timeLeft(options)),
    accessTokens: createAccessTokens({ db: database.db }),
    events: writer.events,
    // Concurrent calls share one query, so that a silent database does not accumulate them.
    ready: () =>
      (readiness ??= Promise.all([table.ready(), writer.probeNodes()])
        .then(() => {})
        .finally(() => {
          readiness = undefined;
        })),
    pending: writer.pending,
    nodes: writer.nodes,
    close: () => (closed ??= writer.drained().then(() => database.close())),
  };
}

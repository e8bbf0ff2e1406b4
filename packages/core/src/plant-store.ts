import type { EventEmitter } from 'node:events';
import type { NewPlant, Plant } from '@plant-store/schemas';
import { type AccessTokens, createAccessTokens } from './access-tokens/access-tokens.ts';
import type { Database } from './database/database.ts';
import { type DatabaseOptions, openDatabase } from './database/open-database.ts';
import { queryWithTimeout } from './database/timeout.ts';
import { createPlantExporter, type PlantExporter } from './plants/bulk/plant-exporter.ts';
import { createPlantLoader, type PlantLoader } from './plants/bulk/plant-loader.ts';
import { type CallOptions, timeLeft } from './plants/deadline.ts';
import { createPlantReader, type PlantReader } from './plants/read/plant-reader.ts';
import { createPlantTable } from './plants/write/plant-table.ts';
import { type StoreEvents, WriteBatcher } from './plants/write/write-batcher.ts';

export interface PlantStore extends PlantReader, PlantLoader, PlantExporter {
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

  /** Emits `batch` after each committed insert statement. */
  readonly events: EventEmitter<StoreEvents>;

  /** Resolves when the database answers and has the tables; throws `databaseUnavailable` otherwise. */
  ready(): Promise<void>;

  /** How many creates wait for a statement, and how many are part of a running statement. */
  pending(): { waiting: number; inFlight: number };

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
export async function openPlantStore(options: DatabaseOptions): Promise<PlantStore> {
  const database = await openDatabase(options);
  return createPlantStore(database);
}

function createPlantStore(database: Database): PlantStore {
  const table = createPlantTable(database);
  const writes = new WriteBatcher({ table, maxInFlight: database.maxInFlight });
  let readiness: Promise<void> | undefined;
  let closed: Promise<void> | undefined;

  return {
    ...createPlantReader(database),
    ...createPlantLoader(database.bulk),
    ...createPlantExporter(database.bulk),
    create: writes.create.bind(writes),
    delete: (id, options) => queryWithTimeout(table.delete(id), timeLeft(options)),
    accessTokens: createAccessTokens({ db: database.db }),
    events: writes.events,
    // Concurrent calls share one query, so that a silent database does not accumulate them.
    ready: () =>
      (readiness ??= table.ready().finally(() => {
        readiness = undefined;
      })),
    pending: () => writes.pending,
    close: () => (closed ??= writes.drained().then(() => database.close())),
  };
}

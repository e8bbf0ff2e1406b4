import { NewPlant, type Plant } from '@plant-store/schemas';
import { type AccessTokens, createAccessTokens } from './access-tokens/access-tokens.ts';
import type { Database } from './database/database.ts';
import { createPlantLoader, type PlantLoader } from './plants/plant-loader.ts';
import { createPlantReader, type PlantReader } from './plants/plant-reader.ts';
import { invalidInput } from './plant-store-error.ts';
import { createPlantTable } from './plants/plant-table.ts';
import { type BatchListener, WriteBatcher } from './plants/write-batcher.ts';

/** Where the plants are kept: a Postgres (`postgres://…`), or an embedded one in a directory. */
export type PlantStoreOptions = { databaseUrl: string } | { dataDirectory: string };

export interface PlantStore extends PlantReader, PlantLoader {
  /**
   * Creates a plant; settles when it is committed. A plant that is already there exactly as asked
   * (same id, name and tag) is a success too, so a create may always be repeated.
   *
   * @param within milliseconds in which it is answered; 5000 unless given
   * @throws PlantStoreError `idTaken` when the id belongs to another plant, which stays unchanged;
   *   `overloaded` when too many creates are waiting, `shuttingDown` once the store is closing
   *   (nothing was written);
   *   `databaseUnavailable` when the database did not answer in time (it may have been written:
   *   repeat the create); `invalidInput` when it is not a NewPlant or the database cannot hold it.
   */
  create(plant: NewPlant, within?: number): Promise<Plant>;

  /** The tokens that open the store to clients. */
  readonly accessTokens: AccessTokens;

  /** Resolves when the database answers and its tables are there; throws `databaseUnavailable` otherwise. */
  ready(): Promise<void>;

  /** How many creates wait for a statement, and how many are in one that is under way. */
  pending(): { waiting: number; inFlight: number };

  /**
   * Has a function called for each batch of plants that the database has taken, in place of any
   * before. What it throws is a warning of the process, and no failure of the batch.
   */
  onBatch(listener: BatchListener): void;

  /** Waits for the creates under way, then lets go of the database. Safe to call twice. */
  close(): Promise<void>;
}

/**
 * Opens the store and brings its tables up to date. A Postgres need not be there yet: until it is,
 * everything fails with `databaseUnavailable`; `ready` tells.
 *
 * @throws DataDirectoryError when the data directory cannot be used, DatabaseSettingsError when the
 *   Postgres refuses the user or the database.
 */
export async function openPlantStore(options: PlantStoreOptions): Promise<PlantStore> {
  const database = await openDatabase(options);
  return createPlantStore(database);
}

/** Each kind with its driver, of which a process needs one. */
async function openDatabase(options: PlantStoreOptions): Promise<Database> {
  if ('databaseUrl' in options) {
    const { openPostgres } = await import('./database/postgres/postgres-database.ts');
    return openPostgres(options.databaseUrl);
  }
  const { openEmbeddedDatabase } = await import('./database/embedded/embedded-database.ts');
  return openEmbeddedDatabase(options.dataDirectory);
}

function createPlantStore(database: Database): PlantStore {
  const table = createPlantTable(database);
  const writes = new WriteBatcher({ table, maxInFlight: database.maxInFlight });
  let closed: Promise<void> | undefined;
  let asked: Promise<void> | undefined;

  return {
    ...createPlantReader(database.bulk.db),
    ...createPlantLoader(database.bulk),
    async create(plant, within) {
      // Checked here too: a tool that calls the store itself may have come past the types.
      const { data, error } = NewPlant.safeParse(plant);
      if (error) throw invalidInput(error);
      return writes.create(data, within);
    },
    accessTokens: createAccessTokens({ db: database.db }),
    // One question at a time, however many ask: a database that is silent gathers none of them.
    ready: () =>
      (asked ??= table.ready().finally(() => {
        asked = undefined;
      })),
    pending: () => writes.pending,
    onBatch: (listener) => {
      writes.onBatch = listener;
    },
    close: () => (closed ??= writes.drained().then(() => database.close())),
  };
}

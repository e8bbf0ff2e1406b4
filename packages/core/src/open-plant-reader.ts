import { createPlantFeed, type OpenPlantFeed } from './changes/plant-feed.ts';
import type { OpenOptions } from './database/database.ts';
import { type DatabaseOptions, openDatabase } from './database/open-database.ts';
import { createLookUps } from './group-commit/look-ups.ts';
import { createPlantReader, type PlantReader } from './plants/plant-reader.ts';
import { createPlantStatements } from './plants/statements.ts';

/** A read-only store. */
export interface OpenPlantReader extends PlantReader, Pick<OpenPlantFeed, 'changes' | 'follow'> {
  close(): Promise<void>;
}

/**
 * Opens a store only for reading. The Postgres may be a read replica. With `onPrimary`, the Postgres must be
 * the primary, because only the primary has the feed of changes. The user needs only the privilege `SELECT`
 * on `plants`. For the feed, the user also needs `SELECT` on `plant_deletions` and `plant_feed`. When the
 * Postgres is unreachable, each call throws `databaseUnavailable`.
 *
 * @throws DataDirectoryError when the data directory has no store or is not usable.
 * @throws DatabaseSettingsError when the URL cannot be parsed.
 */
export async function openPlantReader(
  options: DatabaseOptions,
  { onPrimary = false }: Pick<OpenOptions, 'onPrimary'> = {},
): Promise<OpenPlantReader> {
  const database = await openDatabase(options, { readOnly: true, onPrimary });
  const { find } = createPlantStatements(database);
  const lookUps = createLookUps({ find, maxInFlight: database.connections.reads });
  const { list, count, read } = createPlantReader(database);
  const { changes, follow, stopWaiting } = createPlantFeed(database);
  return {
    get: (id, options) => lookUps.run(id, options),
    list,
    count,
    read,
    changes,
    follow,
    async close() {
      stopWaiting();
      await database.close();
    },
  };
}

import { type DatabaseOptions, openDatabase } from '../database/open-database.ts';
import { createPlantLookUps } from './plant-look-ups.ts';
import { createPlantReader, type PlantReader, type ReadingLane } from './plant-reader.ts';
import { createPlantStatements } from './statements.ts';

/** A store that is only read. */
export interface OpenPlantReader extends PlantReader {
  close(): Promise<void>;
}

/**
 * Opens a store to read plants, and changes nothing. The Postgres may be a read replica, and its user
 * needs no right but `SELECT` on `plants`. When the Postgres is unreachable, each call throws
 * `databaseUnavailable`.
 *
 * @throws DataDirectoryError when the data directory has no store or cannot be used,
 *   DatabaseSettingsError when the URL cannot be parsed
 */
export async function openPlantReader(options: DatabaseOptions): Promise<OpenPlantReader> {
  const database = await openDatabase(options, { readOnly: true });
  const lookUps = createPlantLookUps(createPlantStatements(database.run), database.maxLookUps);
  const lane: ReadingLane = { get: (id, options) => lookUps.run(id, options) };
  return {
    ...createPlantReader(database, { laneOf: () => lane }),
    close: () => database.close(),
  };
}

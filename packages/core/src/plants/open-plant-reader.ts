import { type DatabaseOptions, openDatabase } from '../database/open-database.ts';
import { createLane } from './lane.ts';
import { createPlantReader, type PlantReader } from './plant-reader.ts';
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
  const statements = createPlantStatements(database.run);
  const lane = createLane({ ...database, statements, onCommit() {} });
  const lanes = { laneOf: () => lane };
  return { ...createPlantReader(database, lanes), close: () => database.close() };
}

import { openTestStore } from '@plant-store/core';
import { generateToken } from '@plant-store/core/internal';
import { readSettings, type SettingName } from './settings.ts';
import { listen, openServer } from './start.ts';

/** The location of the plants, and the settings of the server. */
export interface StartOptions {
  /** The directory of an embedded database. The server creates a database in an empty or missing directory. */
  dataDirectory?: string;
  /** The URL of a Postgres. With neither a URL nor a directory, the store is empty and temporary. */
  databaseUrl?: string;
  /**
   * More settings of the server, under the names of their environment variables. `startPlantStore` does not
   * read these variables from the environment.
   */
  settings?: { [Name in Exclude<SettingName, OtherSetting>]?: string };
}

type OtherSetting = 'DATABASE_URL' | 'PLANT_STORE_DATA_DIR' | 'PLANT_STORE_METRICS_PORT';

/** A running server in this process. */
export interface StartedPlantStore {
  /** The address of the server, without a slash at the end. */
  url: string;
  /** An access token with all scopes. Without the setting `PLANT_STORE_TOKEN`, the token is new. */
  token: string;
  /** Waits for the responses to all requests, and closes the server and its database. */
  close(): Promise<void>;
}

/**
 * Starts a plant store in this process, for example for the tests of a front end. By default, the server
 * chooses a free port, and writes only warnings and errors to standard error.
 *
 * @throws Error when a setting is invalid, the directory or the Postgres is not usable, or the port is in use
 */
export async function startPlantStore(options: StartOptions = {}): Promise<StartedPlantStore> {
  const { dataDirectory, databaseUrl, settings: given } = options;
  const token = given?.PLANT_STORE_TOKEN || generateToken();
  const settings = readSettings({
    PORT: '0',
    LOG_LEVEL: 'warn',
    ...given,
    PLANT_STORE_TOKEN: token,
    DATABASE_URL: databaseUrl,
    PLANT_STORE_DATA_DIR: dataDirectory,
  });
  const isTemporary = !dataDirectory && !databaseUrl;
  const opening = isTemporary ? { opening: openTestStore() } : {};
  const { server } = await openServer(settings, { logStream, ...opening });
  const close = async () => {
    await server.close();
    await server.store.close();
  };
  try {
    const { url } = await listen(server, settings);
    return { url, token, close };
  } catch (error) {
    await close();
    throw error;
  }
}

const logStream = {
  write: (line: string) => void process.stderr.write(line),
};

import { orUnavailable } from '../database/database-error.ts';
import { holds, type Query } from '../database/query.ts';
import { type DatabaseOptions, openDatabase } from '../open-database.ts';
import { migrationTimeout } from '../tables/schema-version.ts';
import { ownFeed, switchOff, switchOn } from './epoch/epoch.ts';

/**
 * Switches the feed of changes on or off for all instances. Creates and deletes wait only for a moment. After
 * an error, call the function again: a second call does only the missing steps. When the feed is switched on,
 * all older cursors expire (`cursorExpired`).
 *
 * @returns whether the function changed the state of the feed.
 * @throws PlantStoreError `databaseUnavailable`, for example on a read replica, or when the user does not own
 * the tables.
 * @throws DataDirectoryError when the data directory has no store or is not usable.
 * @throws DatabaseSettingsError when the URL cannot be parsed.
 */
export function switchFeed(options: DatabaseOptions, to: 'on' | 'off'): Promise<boolean> {
  return useDatabaseFor(options, async (query) => {
    const isOn = await holds(query, `exists (select from ${ownFeed})`);
    await (to === 'on' ? switchOn(query) : switchOff(query));
    return isOn !== (to === 'on');
  });
}

/** Runs slow statements on a database. Closing the connection rolls an open transaction back. */
async function useDatabaseFor<T>(
  options: DatabaseOptions,
  use: (query: Query) => Promise<T>,
): Promise<T> {
  if ('databaseUrl' in options) {
    const { createConnectToPrimary } = await import('../postgres/connect-to-primary.ts');
    const limits = { timeout: migrationTimeout, lockTimeout: migrationTimeout };
    const connect = createConnectToPrimary(options.databaseUrl, limits);
    const used = connect().then((connection) =>
      use(connection.query).finally(() => connection.close()),
    );
    return orUnavailable(used);
  }
  const { write, close } = await openDatabase(options, { create: false });
  const query: Query = (text, values = [], rowsAs = 'arrays') =>
    write(text, values, { share: 'bulk', rowsAs });
  return use(query).finally(close);
}

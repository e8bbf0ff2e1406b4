import { type DatabaseOptions, PlantStoreError } from '@plant-store/core';
import {
  type DatabaseState,
  explainDatabaseError,
  inspectDatabase,
} from '@plant-store/core/operator';
import { describeDatabaseUrl } from '@plant-store/core/read';
import { messageOf } from '../command-line/errors.ts';
import { readSettings } from '../command-line/settings.ts';
import { databaseChecks, tableChecks, webhookChecks } from './database-checks.ts';
import { feedChecks } from './feed-checks.ts';
import type { Finding } from './finding.ts';
import { embeddedStorage, serverStorage } from './storage-checks.ts';

/** Checks the settings and the database, and changes nothing. Stops at an error that prevents more checks. */
export async function runChecks(): Promise<Finding[]> {
  let settings: DatabaseOptions;
  try {
    settings = readSettings();
  } catch (error) {
    return [{ check: 'configuration', level: 'problem', message: explain(error) }];
  }
  const message = describeStore(settings);
  return [{ check: 'configuration', level: 'ok', message }, ...(await checkDatabase(settings))];
}

async function checkDatabase(settings: DatabaseOptions): Promise<Finding[]> {
  let state: DatabaseState | undefined;
  try {
    state = await inspectDatabase({ ...settings, trial: true });
  } catch (error) {
    return [{ check: 'connection', level: 'problem', message: explain(error) }];
  }
  if (!state) {
    const message = 'there is no database yet: starting the server or an import creates it';
    return [{ check: 'connection', level: 'ok', message }];
  }
  const isEmbedded = 'dataDirectory' in settings;
  return [
    ...databaseChecks(state),
    ...tableChecks(state),
    ...state.hazards,
    ...feedChecks(state),
    ...webhookChecks(state),
    ...(isEmbedded ? await embeddedStorage(settings.dataDirectory) : serverStorage(state)),
  ];
}

/** The store's message is for clients. The cause of the error tells an operator more. */
function explain(error: unknown): string {
  return error instanceof PlantStoreError ? explainDatabaseError(error) : messageOf(error);
}

/** Names the store without the user, the password and the parameters of the URL. */
function describeStore(settings: DatabaseOptions): string {
  if ('dataDirectory' in settings) return `the embedded database in ${settings.dataDirectory}`;
  return `the Postgres at ${describeDatabaseUrl(settings.databaseUrl)}`;
}

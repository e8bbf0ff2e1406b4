import {
  type DatabaseOptions,
  type DatabaseState,
  inspectDatabase,
  PlantStoreError,
} from '@plant-store/core';
import { readSettings } from '../command-line/settings.ts';
import { databaseHint } from '../command-line/with-store.ts';
import { clusterChecks } from './cluster-checks.ts';
import { databaseChecks } from './database-checks.ts';
import { embeddedDurability, postgresDurability } from './durability-checks.ts';
import type { Finding } from './finding.ts';

/** Checks the settings and the database, and changes nothing. Stops when it cannot go further. */
export async function runChecks(): Promise<Finding[]> {
  let settings: DatabaseOptions;
  try {
    settings = readSettings();
  } catch (error) {
    return [{ check: 'configuration', level: 'problem', message: messageOf(error) }];
  }
  const message = describeStore(settings);
  return [{ check: 'configuration', level: 'ok', message }, ...(await checkDatabase(settings))];
}

async function checkDatabase(settings: DatabaseOptions): Promise<Finding[]> {
  let state: DatabaseState | undefined;
  try {
    state = await inspectDatabase(settings);
  } catch (error) {
    return [{ check: 'connection', level: 'problem', message: messageOf(error) }];
  }
  if (!state) {
    const message = 'there is no database yet: opening the store creates it';
    return [{ check: 'connection', level: 'ok', message }];
  }
  const isEmbedded = 'dataDirectory' in settings;
  const durability = isEmbedded ? embeddedDurability : postgresDurability(state);
  const hasTables = !state.isReadOnly && state.missingMigrations === 0;
  const cluster = !isEmbedded && hasTables ? await clusterChecks(settings.databaseUrl) : [];
  return [...databaseChecks(state), ...durability, ...cluster];
}

function messageOf(error: unknown): string {
  // The store's message is for its clients; the cause tells an operator more.
  if (error instanceof PlantStoreError) return `${error.reason}: ${databaseHint}`;
  return error instanceof Error ? error.message : String(error);
}

/** Names the store, without the user, the password and the parameters of its URL. */
function describeStore(settings: DatabaseOptions): string {
  if ('dataDirectory' in settings) return `the embedded database in ${settings.dataDirectory}`;
  const [, address] = /^\w+:\/\/(?:.*@)?([^?]*)/s.exec(settings.databaseUrl) ?? [];
  return `the Postgres at ${address}`;
}

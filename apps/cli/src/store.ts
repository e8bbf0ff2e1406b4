import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createPlantStoreClient, type PlantStoreClient } from '@plant-store/client';
import { maxPageSize } from '@plant-store/schemas';
import { usageError } from './errors.ts';

/** The address of a store, without a slash at the end, and an access token. */
export interface Address {
  readonly url: string;
  readonly token: string;
}

/** In the repository, where this file is TypeScript, `.env` and the default store of the server are in the root. */
const home = import.meta.url.endsWith('.ts') ? resolve(import.meta.dirname, '../../..') : '.';

/**
 * Reads the address of the store from the settings.
 *
 * @throws CommandError when a setting is missing or not valid
 */
export function readAddress(): Address {
  try {
    process.loadEnvFile(join(home, '.env'));
  } catch {} // The file is optional.
  const url = process.env['PLANT_STORE_URL'] || 'http://127.0.0.1:3000';
  // The message does not contain the URL, because the URL may contain a password.
  if (!URL.canParse(url) || !/^https?:\/\/[^@?#]+$/.test(url)) {
    const example = 'https://plants.example.com or http://127.0.0.1:3000';
    throw usageError(
      `PLANT_STORE_URL is not valid: set the address of the store, such as ${example}`,
    );
  }
  const token = process.env['PLANT_STORE_TOKEN'] || embeddedToken(new URL(url));
  return { url: url.replace(/\/$/, ''), token };
}

/** Makes a client of the store. A call without `wait` ends with its retries within `timeout` milliseconds. */
export function connect(timeout = 10_000): PlantStoreClient {
  return createPlantStoreClient({ ...readAddress(), timeout });
}

/** Reads the pages of a list, one after the other. */
export async function* readPages<Page extends { next?: string | undefined }>(
  read: (page: { after: string | undefined; limit: number }) => Promise<Page>,
) {
  let after: string | undefined;
  do {
    const page = await read({ after, limit: maxPageSize });
    yield page;
    after = page.next;
  } while (after !== undefined);
}

/** Reads the token that the embedded store on this machine keeps in its directory. */
function embeddedToken({ hostname }: URL): string {
  const setToken = 'set PLANT_STORE_TOKEN to an access token of the store';
  // The token of the store on this machine must not reach another machine.
  if (!/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)) throw usageError(setToken);
  const path = join(process.env['PLANT_STORE_DATA_DIR'] || join(home, '.plant-store'), 'token');
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    throw usageError(
      `there is no access token at ${path}: start the embedded store, or ${setToken}`,
    );
  }
}

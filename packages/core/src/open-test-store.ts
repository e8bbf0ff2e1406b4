import { createHash, randomUUID } from 'node:crypto';
import { cp, glob, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { openPlantStore, type PlantStore } from './plant-store.ts';

/**
 * Opens an empty store for a test. The embedded database is in a temporary directory, which `close` deletes.
 * Creating a database takes seconds, so the first call creates a template database in `node_modules/.cache`.
 * Each call copies the template into the temporary directory.
 */
export async function openTestStore(): Promise<PlantStore> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'plant-store-test-'));
  const remove = () => rm(dataDirectory, { recursive: true, force: true });
  try {
    const template = await findTemplate();
    const copy = () => cp(template, dataDirectory, { recursive: true });
    await copy().catch(() => createTemplate(template).then(copy));
    const store = await openPlantStore({ dataDirectory });
    return { ...store, close: () => store.close().finally(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}

/**
 * Returns the path of the template. The path depends on `package.json`, which names the version of PGlite, and
 * on the migrations.
 */
async function findTemplate(): Promise<string> {
  const hash = createHash('sha256');
  const cwd = new URL('..', import.meta.url);
  const paths = await Array.fromAsync(glob(['package.json', 'drizzle/*.sql'], { cwd }));
  for (const path of paths.sort()) hash.update(await readFile(new URL(path, cwd)));
  const key = hash.digest('hex').slice(0, 16);
  return resolve('node_modules', '.cache', `plant-store-${key}`);
}

/**
 * Several processes may create the template at the same time. The first process then renames its directory to
 * `template`, and the other processes delete their directories.
 */
async function createTemplate(template: string): Promise<void> {
  const dataDirectory = `${template}-${randomUUID()}`;
  await (await openPlantStore({ dataDirectory })).close();
  await rename(dataDirectory, template).catch(() => rm(dataDirectory, { recursive: true }));
}

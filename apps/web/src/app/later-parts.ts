import { lazy } from 'react';

/** While the server does not respond, the console asks for a script again after this time, in milliseconds. */
const retryDelay = 1_000;

/** Loads a script. Tries again until the server responds. */
async function load<Module>(start: () => Promise<Module>): Promise<Module> {
  for (;;) {
    try {
      return await start();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, retryDelay));
    }
  }
}

type Later = typeof import('./later.ts');
type Files = typeof import('./files.ts');

/** Loads the second script, which the browser does not need for the list. */
export const loadLater = (): Promise<Later> => load(() => import('./later.ts'));

/** Loads the script that reads and writes files. */
export function loadFiles(): Promise<Files> {
  // zod compiles schemas with `new Function`, which the content security policy forbids. zod reads this
  // object when it is loaded.
  Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });
  return load(() => import('./files.ts'));
}

export const Account = lazy(async () => ({ default: (await loadLater()).Account }));
export const AddPlant = lazy(async () => ({ default: (await loadLater()).AddPlant }));
export const DeleteQuestion = lazy(async () => ({ default: (await loadLater()).DeleteQuestion }));
export const ExportPlants = lazy(async () => ({ default: (await loadFiles()).ExportPlants }));
export const ImportPlants = lazy(async () => ({ default: (await loadFiles()).ImportPlants }));
export const OnePlant = lazy(async () => ({ default: (await loadLater()).OnePlant }));
export const SignInAgain = lazy(async () => ({ default: (await loadLater()).SignInAgain }));
export const Tokens = lazy(async () => ({ default: (await loadLater()).Tokens }));

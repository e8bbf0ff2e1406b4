import { type ComponentType, lazy } from 'react';

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

const later = <Props>(pick: (later: Later) => ComponentType<Props>) =>
  lazy(async () => ({ default: pick(await loadLater()) }));

const files = <Props>(pick: (files: Files) => ComponentType<Props>) =>
  lazy(async () => ({ default: pick(await loadFiles()) }));

export const Account = later(({ Account }) => Account);
export const AddPlant = later(({ AddPlant }) => AddPlant);
export const DeleteQuestion = later(({ DeleteQuestion }) => DeleteQuestion);
export const ExportPlants = files(({ ExportPlants }) => ExportPlants);
export const ImportPlants = files(({ ImportPlants }) => ImportPlants);
export const OnePlant = later(({ OnePlant }) => OnePlant);
export const SignInAgain = later(({ SignInAgain }) => SignInAgain);
export const Tokens = later(({ Tokens }) => Tokens);

import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import { run } from './run.ts';

/** Makes an empty project outside the workspace. */
export async function makeProject(name: string): Promise<string> {
  const project = join(inject('directory'), name);
  await mkdir(project);
  await writeFile(join(project, '.npmrc'), inject('npmrc'));
  await writeFile(
    join(project, 'package.json'),
    JSON.stringify({ name, private: true, type: 'module' }),
  );
  return project;
}

/** Makes a home directory whose npm cache has only downloads. Returns environment variables for npm. */
export async function makeHome(): Promise<Record<string, string>> {
  const home = join(inject('directory'), 'home');
  const npmrc = join(home, '.npmrc');
  const ownCache = join(home, '.npm');
  await mkdir(ownCache, { recursive: true });
  await writeFile(npmrc, inject('npmrc'));
  const cache = (await run(home, 'npm', ['config', 'get', 'cache'])).trim();
  await symlink(join(cache, '_cacache'), join(ownCache, '_cacache'));
  return {
    ...process.env,
    HOME: home,
    npm_config_userconfig: npmrc,
    npm_config_cache: ownCache,
  };
}

/** Reads a JSON file from the released copy of the repository. */
export async function readReleased(path: string) {
  return JSON.parse(await readFile(join(inject('copy'), path), 'utf8'));
}

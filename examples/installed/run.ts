import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { inject } from 'vitest';

export const repository = fileURLToPath(new URL('../..', import.meta.url));

/** Runs a program in a directory. On Windows, npm and pnpm are scripts, which need a shell. */
export async function run(
  cwd: string,
  file: string,
  args: string[],
  env: NodeJS.ProcessEnv = {},
): Promise<string> {
  const options = { cwd, env: { ...process.env, ...env }, shell: process.platform === 'win32' };
  return (await promisify(execFile)(file, args, options)).stdout;
}

/** Installs packages without npm's messages about audits and funding. */
export function install(directory: string, ...args: string[]): Promise<string> {
  return run(directory, 'npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', ...args]);
}

/** Makes an empty project outside the workspace. */
export async function makeProject(name: string): Promise<string> {
  const project = join(inject('directory'), name);
  await mkdir(project);
  await writeFile(join(project, '.npmrc'), inject('npmrc'));
  const manifest = { name, private: true, type: 'module' };
  await writeFile(join(project, 'package.json'), JSON.stringify(manifest));
  return project;
}

/** Returns the type errors of programs, once as a bundler resolves modules, and once as Node does. */
export async function typeErrors(project: string, files: string[], options: object) {
  const errors: string[] = [];
  for (const [module, moduleResolution] of [
    ['esnext', 'bundler'],
    ['nodenext', 'nodenext'],
  ]) {
    const resolution = { module, moduleResolution, allowImportingTsExtensions: true };
    const compilerOptions = { strict: true, noEmit: true, ...resolution, ...options };
    await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
    const tsc = join(repository, 'node_modules/.bin/tsc');
    const output = await run(project, tsc, []).catch(({ stdout }: { stdout: string }) => stdout);
    errors.push(...output.split('\n').filter((line) => line.includes('error TS')));
  }
  // The declarations of @trpc/server need Node's types, which a front end does not have.
  return errors.filter((error) => !error.startsWith('node_modules/@trpc/server/'));
}

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

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

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, renameSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtConsole } from './serve-console.ts';

const repository = fileURLToPath(new URL('../../../..', import.meta.url));
const web = join(repository, 'apps/web');

/** The sources of the console. */
const sources = [
  'apps/web/index.html',
  'apps/web/package.json',
  'apps/web/vite.config.ts',
  'apps/web/src',
  'packages/client/src',
  'packages/schemas/src',
  'pnpm-lock.yaml',
];

/**
 * Builds the console in another process when it is not built, or its sources are newer than the
 * build. Does nothing where the sources or Vite are not there, as in a production image. An error
 * is printed and stops nothing: the server works without the console.
 */
export async function buildConsole(): Promise<void> {
  const vite = findVite();
  if (!vite || !isOutOfDate()) return;
  // Another start may build at the same time. A finished build takes the place of the old one.
  const target = join(web, 'node_modules', `.console-${process.pid}`);
  const build = startVite(vite, target);
  const cleanUp = () => {
    build.kill('SIGKILL');
    rmSync(target, { recursive: true, force: true });
  };
  process.once('exit', cleanUp); // The server may fail to start, or get a signal, during the build.
  try {
    const [code] = await once(build, 'exit');
    if (code === 0) replace(builtConsole, target);
  } catch (error) {
    console.error(`The console was not built: ${error}`);
  } finally {
    process.off('exit', cleanUp);
    cleanUp();
  }
}

function findVite(): string | undefined {
  try {
    const manifest = createRequire(join(web, 'package.json')).resolve('vite/package.json');
    return join(dirname(manifest), 'bin/vite.js');
  } catch {
    return undefined;
  }
}

function isOutOfDate(): boolean {
  const builtAt = modifiedAt(join(builtConsole, 'index.html'));
  // A folder changes when a file in it is deleted.
  const paths = globSync(
    sources.flatMap((source) => [source, `${source}/**`]),
    { cwd: repository },
  );
  return paths.some((path) => modifiedAt(join(repository, path)) > builtAt);
}

/** The time of the last change of a file or folder; 0 when it does not exist. */
function modifiedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function startVite(vite: string, target: string): ChildProcess {
  const args = [vite, 'build', '--outDir', target, '--emptyOutDir', '--logLevel', 'warn'];
  // Another NODE_ENV would put React's development build into the console.
  const env = { ...process.env, NODE_ENV: 'production' };
  return spawn(process.execPath, args, { cwd: web, env, stdio: ['ignore', 'ignore', 'inherit'] });
}

function replace(path: string, by: string): void {
  rmSync(path, { recursive: true, force: true });
  try {
    renameSync(by, path);
  } catch (error) {
    // Another start was faster: its build is as good.
    if (!existsSync(path)) throw error;
  }
}

import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from '../repository.ts';

/**
 * Builds the console for `pnpm start`. Does nothing when Turborepo is missing, for example in a production
 * image. When the build fails, prints its output and continues, because the server works without the console.
 */
export async function buildConsole(): Promise<void> {
  const turbo = process.argv.includes('--build-console') && findTurbo();
  if (!turbo) return;
  const args = ['run', 'build', '--filter=@plant-store/web', '--no-update-notifier'];
  const build = promisify(execFile)(process.execPath, [turbo, ...args], {
    cwd: repositoryRoot,
    env: { ...process.env, PATH: pathWithPnpm(), TURBO_TELEMETRY_DISABLED: '1' },
  });
  const stop = () => build.child.kill();
  process.once('exit', stop); // During the build, the server may exit, or a signal may end the server.
  await build.catch(({ stdout, stderr }) => {
    console.error(`The console was not built:\n${stdout}${stderr}`);
  });
  process.off('exit', stop);
}

/** Turborepo looks for pnpm in `PATH`, but a user may have started pnpm by its path. */
function pathWithPnpm({ PATH = '', npm_execpath: pnpm } = process.env): string {
  return pnpm ? `${PATH}${delimiter}${dirname(pnpm)}` : PATH;
}

function findTurbo(): string | undefined {
  try {
    return createRequire(join(repositoryRoot, 'package.json')).resolve('turbo');
  } catch {
    return undefined;
  }
}

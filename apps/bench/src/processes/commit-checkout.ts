import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { atExit } from '@plant-store/test-setup';
import { execute } from './execute.ts';

const repository = fileURLToPath(new URL('../../../..', import.meta.url));

/**
 * Checks out a commit in a temporary directory, and installs the dependencies. The installation needs no
 * network if pnpm's store has all packages. `remove`, or the end of this process, removes the checkout.
 */
export async function checkOut(commit: string) {
  const parent = mkdtempSync(join(tmpdir(), 'plant-store-commit-'));
  const directory = join(parent, 'repository');
  const remove = () => {
    cancelAtExit();
    rmSync(parent, { recursive: true, force: true });
    spawnSync('git', ['-C', repository, 'worktree', 'prune']);
  };
  const cancelAtExit = atExit(remove);
  try {
    await execute('git', ['-C', repository, 'worktree', 'add', '--detach', directory, commit]);
    const install = ['--yes', 'pnpm', '--dir', directory, 'install', '--frozen-lockfile'];
    await execute('npx', [...install, '--offline']).catch(() => execute('npx', install));
    /** Returns the path of the same file in the checkout. */
    const pathOf = (file: string) => join(directory, relative(repository, file));
    return { pathOf, remove };
  } catch (cause) {
    remove();
    throw new Error(`the commit ${commit} cannot be built`, { cause });
  }
}

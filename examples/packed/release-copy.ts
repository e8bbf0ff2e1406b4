import { cp, glob, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repository, run } from './run.ts';

/** Copies the repository with its uncommitted files, adds an `.npmrc`, and commits the other files. */
export async function copyRepository(copy: string, npmrc: string): Promise<void> {
  await mkdir(copy);
  const listed = await run(repository, 'git', [
    ...['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate'],
  ]);
  const existing = await Array.fromAsync(glob(listed.trim().split('\n'), { cwd: repository }));
  for (const file of existing) await cp(join(repository, file), join(copy, file));
  // The whole `.ci/run` would run this test again, so the copy's `.ci/run` exits after its first command.
  // The other commands stay in the file, because the check of the pages reads them.
  const ci = join(copy, '.ci/run');
  const checks = 'npx -y pnpm exec turbo run pages; exit';
  await writeFile(ci, `#!/bin/sh\n${checks}\n${await readFile(ci, 'utf8')}`);
  await run(copy, 'git', ['init', '--quiet', '--initial-branch', 'main']);
  // The `.npmrc` contains a user's login, so Git must ignore it.
  await writeFile(join(copy, '.git/info/exclude'), '.npmrc\n');
  await writeFile(join(copy, '.npmrc'), npmrc);
  await commit(copy, 'Begin');
  await run(copy, 'pnpm', ['install', '--frozen-lockfile', '--prefer-offline']);
}

export async function commit(copy: string, message: string): Promise<void> {
  await run(copy, 'git', ['add', '.']);
  await run(copy, 'git', ['commit', '--quiet', '--message', message], identity);
}

/** Runs the two commands of a release, and returns the output of both commands. */
export async function release(copy: string): Promise<string> {
  const prepared = await run(copy, 'pnpm', ['release'], identity);
  return prepared + (await run(copy, 'pnpm', ['release', 'upload']));
}

const identity = {
  GIT_AUTHOR_NAME: 'gardener',
  GIT_AUTHOR_EMAIL: 'gardener@example.com',
  GIT_COMMITTER_NAME: 'gardener',
  GIT_COMMITTER_EMAIL: 'gardener@example.com',
};

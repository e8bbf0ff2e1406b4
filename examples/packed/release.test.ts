import { cp, glob, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { repository, run } from './run.ts';

/** Copies the files of the repository, even uncommitted files. */
async function copyRepository(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'plant-store-release-'));
  onTestFinished(() => rm(copy, { recursive: true, force: true }));
  const listed = await run(repository, 'git', [
    ...['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate'],
  ]);
  const existing = await Array.fromAsync(glob(listed.trim().split('\n'), { cwd: repository }));
  for (const file of existing) await cp(join(repository, file), join(copy, file));
  await run(copy, 'git', ['init', '--quiet']);
  await run(copy, 'git', ['add', '.']);
  return copy;
}

const readJson = async (path: string) => JSON.parse(await readFile(path, 'utf8'));

it('releases the next version by the steps of CONTRIBUTING.md', async () => {
  const copy = await copyRepository();
  await run(copy, 'pnpm', ['install', '--frozen-lockfile', '--prefer-offline']);
  const change = '---\n"@plant-store/core": minor\n---\n\nPlants have a height.\n';
  await writeFile(join(copy, '.changeset/height.md'), change);

  const page = await readFile(join(copy, 'CONTRIBUTING.md'), 'utf8');
  const [, steps = ''] = page.split('## Releases');
  const commands = [...steps.matchAll(/`npx -y pnpm ([^`]+)`/g)].map(([, command = '']) => command);
  expect(commands).toEqual([
    expect.stringContaining('audit'),
    'changeset version',
    'openapi',
    'changeset publish',
  ]);
  for (const command of commands.slice(1, -1)) await run(copy, 'pnpm', command.split(' '));

  const document = await readJson(join(copy, 'apps/api/openapi.json'));
  const manifests = await Promise.all(
    [...(await Array.fromAsync(glob('{apps,packages}/*/package.json', { cwd: copy })))].map(
      (path) => readJson(join(copy, path)),
    ),
  );
  const versions = manifests.filter((each) => !each.private).map(({ version }) => version);
  expect(new Set([...versions, document.info.version])).toEqual(new Set(['1.1.0']));
  await run(copy, 'pnpm', ['exec', 'turbo', 'run', 'lint', 'pages', 'openapi:check']);

  await run(copy, 'pnpm', ['pack:packages']); // `changeset publish` packs each package, too.
  expect(await readdir(join(copy, 'dist-packages'))).toHaveLength(versions.length);
});

import { glob, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, it, vi } from 'vitest';
import { makeProject, readReleased } from './project.ts';
import { commit, release } from './release-copy.ts';
import { run } from './run.ts';

// Each release builds all packages, so the tests are slow.
vi.setConfig({ testTimeout: 600_000 });

const copy = inject('copy');
const npmrc = inject('npmrc');

it('releases the next version with a changelog, and uploads each package only once', async () => {
  await expect(run(copy, 'pnpm', ['release', 'upload'])).resolves.toContain(
    'has all packages of v1.0.0',
  );
  const change = '---\n"@plant-store/core": minor\n---\n\nPlants have a height.\n';
  await writeFile(join(copy, '.changeset/height.md'), change);
  await expect(run(copy, 'pnpm', ['release'])).rejects.toMatchObject({
    stderr: expect.stringContaining('commit the changes that `git status` shows'),
  });
  await commit(copy, 'Give plants a height');
  expect(await release(copy)).toContain('v1.1.0 is ready');
  const paths = await Array.fromAsync(glob('{apps,packages}/*/package.json', { cwd: copy }));
  const manifests = await Promise.all(paths.map(readReleased));
  const versions = manifests.filter((each) => !each.private).map(({ version }) => version);
  const { info } = await readReleased('apps/api/openapi.json');
  expect(new Set([...versions, info.version])).toEqual(new Set(['1.1.0']));
  expect(await readFile(join(copy, 'packages/core/CHANGELOG.md'), 'utf8')).toContain(
    'Plants have a height.',
  );
  const project = await makeProject('newest');
  expect(await run(project, 'npm', ['view', '@plant-store/server', 'version'])).toBe('1.1.0\n');
});

it('reports a missing repository or a missing login before an upload', async () => {
  expect(inject('released')).toContain(
    'add `repository` to the package.json of @plant-store/schemas,',
  );
  await writeFile(join(copy, '.npmrc'), npmrc.replace(/\/\/.*_authToken.*\n/, ''));
  await expect(run(copy, 'pnpm', ['release', 'upload'])).rejects.toMatchObject({
    stderr: expect.stringMatching(/you are not logged in: run `npm login --registry http:/),
  });
  const inWorkflow = { ACTIONS_ID_TOKEN_REQUEST_URL: 'http://127.0.0.1' };
  await expect(run(copy, 'pnpm', ['release', 'upload'], inWorkflow)).rejects.toMatchObject({
    stderr: expect.stringContaining('add `repository` to the package.json'),
  });
});

import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { hasRelativeLinks } from '@plant-store/test-setup';
import { afterAll, beforeAll, expect, it } from 'vitest';

const exec = promisify(execFile);
const repository = fileURLToPath(new URL('..', import.meta.url));
const guide = await readFile(join(repository, 'CONTRIBUTING.md'), 'utf8');

let copy: string;

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'plant-store-contributing-'));
  const paths = ['packages', 'apps/api', 'examples/rest', 'docs'];
  paths.push(
    'package.json',
    'tsconfig.base.json',
    'vitest.base.ts',
    'vitest.setup.ts',
    'biome.json',
  );
  for (const path of paths) {
    await cp(join(repository, path), join(copy, path), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (file) => !['dist', '.turbo'].includes(basename(file)),
    });
  }
  await symlink(join(repository, 'node_modules'), join(copy, 'node_modules'), 'junction');
});

afterAll(() => rm(copy, { recursive: true }));

/** Runs a JavaScript or TypeScript program in a workspace of the copy. */
const run = (workspace: string, ...args: string[]) =>
  exec(process.execPath, args, { cwd: join(copy, workspace) });
const tsc = join(repository, 'node_modules/typescript/bin/tsc');
const vitest = join(repository, 'node_modules/vitest/vitest.mjs');

it.runIf(hasRelativeLinks)(
  'has a worked example that works when its steps are followed',
  {
    timeout: 240_000,
  },
  async () => {
    const files = [...guide.matchAll(/```ts (\S+)\n(.*?)```/gs)];
    expect(files).toHaveLength(3);
    for (const [, path = '', code = ''] of files) await writeFile(join(copy, path), code);
    const patches = [...guide.matchAll(/```diff\n(.*?)```/gs)].map(([, patch]) => patch);
    await writeFile(join(copy, 'guide.patch'), patches.join(''));
    await exec('git', ['apply', '--unidiff-zero', 'guide.patch'], { cwd: copy });

    await run('packages/client', tsc); // Checks core too: the client imports its types.
    await run('apps/api', tsc);
    await run('packages/schemas', vitest, 'run', 'error-catalogue');
    await run('packages/client', vitest, 'run', 'more-procedures');

    await expect(run('apps/api', 'src/docs/write-openapi.ts', '--check')).rejects.toMatchObject({
      stderr: expect.stringContaining('openapi.json is out of date'),
    });
    await run('apps/api', 'src/docs/write-openapi.ts');
    const document = JSON.parse(await readFile(join(copy, 'apps/api/openapi.json'), 'utf8'));
    expect(Object.keys(document.paths)).toEqual(
      expect.arrayContaining(['/plants', '/plants/deletions', '/plants/{id}/label']),
    );
    expect(document.components.schemas).toMatchObject({ PlantIds: {}, Deletions: {}, Label: {} });
    await run('apps/api', vitest, 'run', 'documented-errors', '-t', 'labelMissing');
  },
);

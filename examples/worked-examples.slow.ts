import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { hasRelativeLinks } from '@plant-store/test-setup';
import { expect, it, onTestFinished } from 'vitest';

const exec = promisify(execFile);
const repository = fileURLToPath(new URL('..', import.meta.url));
const guide = await readFile(join(repository, 'docs/worked-examples.md'), 'utf8');
const pricePatch = await readFile(join(repository, 'examples/price.patch'), 'utf8');
const labelPatch = await readFile(join(repository, 'examples/label.patch'), 'utf8');
const [, fieldGuide = '', procedureGuide = ''] = guide.split(/^## /m);

const tsc = join(repository, 'node_modules/typescript/bin/tsc');
const vitest = join(repository, 'node_modules/vitest/vitest.mjs');

/** Copies the repository. Returns functions that change the copy, and run programs in it. */
async function copyRepository() {
  const copy = await mkdtemp(join(tmpdir(), 'plant-store-worked-examples-'));
  onTestFinished(() => rm(copy, { recursive: true }));
  const paths = ['packages', 'apps/api', 'apps/cli', 'apps/web', 'examples/rest', 'docs'];
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
  return {
    read: (path: string) => readFile(join(copy, path), 'utf8'),
    write: (path: string, text: string) => writeFile(join(copy, path), text),
    async apply(patch: string) {
      await writeFile(join(copy, 'guide.patch'), patch);
      await exec('git', ['apply', '--unidiff-zero', 'guide.patch'], { cwd: copy });
    },
    /** Runs a JavaScript or TypeScript program in a workspace. */
    run: (workspace: string, ...args: string[]) =>
      exec(process.execPath, args, { cwd: join(copy, workspace) }),
  };
}

const patchIn = (text: string) => /```diff\n(.*?)```/s.exec(text)?.[1] ?? '';

it.runIf(hasRelativeLinks)('adds a field to a plant', async () => {
  const { apply, run } = await copyRepository();
  await apply(patchIn(fieldGuide));
  const faults = async (workspace: string) => {
    const { stdout = '' } = await run(workspace, tsc).catch((error) => error);
    return new Set([...stdout.matchAll(/^(\S+?)\(\d+,\d+\): error/gm)].map(([, file]) => file));
  };
  // The type checker reports the places that must handle the field, and the test of the contract's
  // types.
  expect(await faults('apps/web')).toEqual(
    new Set([
      'src/plants/shown-fields.tsx',
      '../../packages/core/src/database/tables.ts',
      '../../packages/schemas/src/plant-columns.ts',
    ]),
  );
  expect(await faults('packages/schemas')).toEqual(
    new Set(['src/plant-columns.ts', 'test/plant.test.ts']),
  );

  await apply(pricePatch);
  const drizzleKit = join(repository, 'tools/node_modules/drizzle-kit/bin.cjs');
  const options = '--dialect postgresql --schema src/database/tables.ts --out drizzle --name price';
  await run('packages/core', drizzleKit, 'generate', ...options.split(' '));
  for (const workspace of ['packages/client', 'apps/api', 'apps/cli', 'apps/web']) {
    expect(await faults(workspace)).toEqual(new Set());
  }
  await run('apps/cli', vitest, 'run', '--mode', 'example');
});

it.runIf(hasRelativeLinks)('adds a procedure', async () => {
  const { apply, read, write, run } = await copyRepository();
  const [, path = '', code = ''] = /```ts (\S+)\n(.*?)```/s.exec(procedureGuide) ?? [];
  await write(path, code);
  await apply(patchIn(procedureGuide) + labelPatch);

  await run('packages/client', tsc); // Checks core too: the client imports its types.
  await run('apps/api', tsc);
  await run('packages/schemas', vitest, 'run', 'error-catalogue');
  await run('packages/client', vitest, 'run', 'label');

  await expect(run('apps/api', 'openapi/write-openapi.ts', '--check')).rejects.toMatchObject({
    stderr: expect.stringContaining('openapi.json is out of date'),
  });
  await run('apps/api', 'openapi/write-openapi.ts');
  const document = JSON.parse(await read('apps/api/openapi.json'));
  expect(Object.keys(document.paths)).toEqual(
    expect.arrayContaining(['/plants', '/plants/{id}/label']),
  );
  expect(document.components.schemas).toMatchObject({ Label: {} });
  await run('apps/api', vitest, 'run', 'documented-errors', '-t', 'labelMissing');
});

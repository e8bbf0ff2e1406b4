import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { hasRelativeLinks } from '@plant-store/test-setup';
import { afterAll, beforeAll, expect, it } from 'vitest';

const exec = promisify(execFile);
const repository = fileURLToPath(new URL('..', import.meta.url));
const guide = await readFile(join(repository, 'docs/worked-examples.md'), 'utf8');
const heightPatch = await readFile(join(repository, 'examples/height.patch'), 'utf8');
const labelPatch = await readFile(join(repository, 'examples/label.patch'), 'utf8');

const tsc = join(repository, 'node_modules/typescript/bin/tsc');
const vitest = join(repository, 'node_modules/vitest/vitest.mjs');
const openapiTypescript = join(repository, 'tools/node_modules/openapi-typescript/bin/cli.js');

/** The tests about the fields of a plant, the procedures and the errors, by package. */
const workspaces = {
  'apps/api': ['docs/', 'auth/scopes', 'test/create-plant.', 'test/read-plants', 'trpc/trpc'],
  'packages/core': ['tables/', 'plants/statements', 'plants/output-text', 'test/plant-store'],
  'apps/cli': ['import/import-file', 'commands/json'],
  'apps/web': ['plants/add', 'changes/', 'requests/'],
  'packages/client': ['plant-store-client', 'label', 'bundle'],
  'packages/formats': ['test/'],
  'packages/schemas': ['test/'],
  'examples/rest': ['add-plant'],
  examples: ['readme'],
};

const toolModules = join('tools', 'node_modules');

/** Copies the repository. Returns functions that change the copy, and run programs in the copy. */
async function copyRepository() {
  const copy = await mkdtemp(join(tmpdir(), 'plant-store-worked-examples-'));
  const left = ['.cache', '.git', '.plant-store', '.stryker-tmp', '.turbo', 'dist', 'generated'];
  const entries = await readdir(repository);
  for (const path of entries.filter((entry) => ![...left, 'node_modules'].includes(entry))) {
    await cp(join(repository, path), join(copy, path), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (file) => !left.includes(basename(file)) && !file.endsWith(toolModules),
    });
  }
  for (const modules of ['node_modules', toolModules])
    await symlink(join(repository, modules), join(copy, modules), 'junction');
  /** Runs a JavaScript or TypeScript program in a workspace. */
  const run = (workspace: string, ...args: string[]) =>
    exec(process.execPath, args, { cwd: join(copy, workspace), maxBuffer: 2 ** 26 });
  return {
    remove: () => rm(copy, { recursive: true }),
    read: (path: string) => readFile(join(copy, path), 'utf8'),
    async apply(patch: string) {
      await writeFile(join(copy, 'guide.patch'), patch);
      await exec('git', ['apply', '--unidiff-zero', 'guide.patch'], { cwd: copy });
    },
    run,
    /** Writes the OpenAPI document, and the types of the REST example. */
    async generate() {
      await run('apps/api', 'openapi/write-openapi.ts');
      const [from, to] = ['../../apps/api/openapi.json', 'plant-store.d.ts'];
      await run('examples/rest', openapiTypescript, from, '--output', to);
    },
  };
}

// Both examples change the same copy, so that the packages' own tests run once and test both changes.
let copied: Awaited<ReturnType<typeof copyRepository>>;

beforeAll(async () => {
  copied = await copyRepository();
});

afterAll(() => copied.remove());

it.runIf(hasRelativeLinks)('adds a field to a plant', async () => {
  const { apply, run, generate } = copied;
  await apply(/```diff\n(.*?)```/s.exec(guide)?.[1] ?? '');
  const faults = async (workspace: string) => {
    const { stdout = '' } = await run(workspace, tsc).catch((error) => error);
    return new Set([...stdout.matchAll(/^(\S+?)\(\d+,\d+\): error/gm)].map(([, file]) => file));
  };
  expect(await faults('apps/web')).toEqual(
    new Set([
      'src/plants/shown-fields.tsx',
      '../../packages/core/src/tables/tables.ts',
      '../../packages/schemas/src/plant-columns.ts',
    ]),
  );
  expect(await faults('packages/schemas')).toEqual(new Set(['src/plant-columns.ts']));

  await apply(heightPatch);
  const drizzleKit = join(repository, 'tools/node_modules/drizzle-kit/bin.cjs');
  const options = '--dialect postgresql --schema src/tables/tables.ts --out drizzle --name height';
  await run('packages/core', drizzleKit, 'generate', ...options.split(' '));
  await generate();
  // The type checks of these workspaces also check the sources of all other packages.
  for (const workspace of ['apps/api', 'apps/cli', 'apps/web', 'examples/rest']) {
    expect(await faults(workspace)).toEqual(new Set());
  }
  await run('apps/cli', vitest, 'run', '--mode', 'example');
});

it.runIf(hasRelativeLinks)('adds a procedure', async () => {
  const { apply, read, run, generate } = copied;
  await apply(labelPatch);

  await run('packages/client', tsc); // Also checks core, whose types the client imports.
  await run('apps/api', tsc);
  await expect(run('apps/api', 'openapi/write-openapi.ts', '--check')).rejects.toMatchObject({
    stderr: expect.stringContaining('openapi.json is out of date'),
  });
  await generate();
  const document = JSON.parse(await read('apps/api/openapi.json'));
  expect(Object.keys(document.paths)).toEqual(
    expect.arrayContaining(['/plants', '/plants/{id}/label']),
  );
  expect(document.components.schemas).toMatchObject({ Label: {} });
});

it.runIf(hasRelativeLinks).each(Object.entries(workspaces))(
  'the tests of %s pass after both changes',
  async (workspace, files) => {
    const quiet = ['--reporter', 'dot', '--maxWorkers', '1'];
    await copied.run(workspace, vitest, 'run', ...files, ...quiet).catch(({ stdout, stderr }) => {
      throw new Error(`${stdout}${stderr}`);
    });
  },
);

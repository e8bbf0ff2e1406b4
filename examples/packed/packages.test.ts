import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { createDatabase, startOnPostgres } from '@plant-store/test-setup';
import { expect, inject, it, onTestFinished, vi } from 'vitest';
import coreManifest from '../../packages/core/package.json' with { type: 'json' };
import { broughtBy, installed } from './dependencies.ts';
import { makeProject, readReleased } from './project.ts';
import { install, repository, run } from './run.ts';
import { typeErrors } from './type-errors.ts';
import { typedPrograms } from './typed-programs.ts';

// Each test installs packages from the registry, which may be slow.
vi.setConfig({ testTimeout: 600_000 });

/** Matches the files that a published package may contain. */
const published =
  /^package\/(dist\/[\w/-]+(?<!\.test)(\.js|\.d\.ts|\.js\.map)|dist\/files\/.*|src\/pages\/reference\.html|errors\.html|openapi\.json|drizzle\/[\w/]+\.(sql|json)|LICENSE|README\.md|CHANGELOG\.md|package\.json)$/;

const installers = [
  ['npm', ['npm', 'install', '--no-audit', '--no-fund', '--prefer-offline']],
  // By default, pnpm may reject packages that are only seconds old.
  ['pnpm', ['pnpm', 'add', '--config.minimum-release-age=0', '--prefer-offline']],
  // Yarn's usual cache may contain packages of the same version from an earlier run of the tests.
  ['yarn', ['npx', '-y', 'yarn@1.22.22', 'add', '--no-lockfile', '--cache-folder', '.yarn-cache']],
] as const;

it('the packages contain only files that their users need', async () => {
  const tarballs = join(inject('copy'), 'dist-packages');
  const packed = (await readdir(tarballs)).filter((name) => name.endsWith('.tgz'));
  expect(packed).toHaveLength(8);
  for (const tarball of packed) {
    const files = await run(tarballs, 'tar', ['--list', '--file', tarball]);
    expect(
      files
        .trimEnd()
        .split('\n')
        .filter((file) => !published.test(file)),
    ).toEqual([]);
  }
});

it('core works in an internal tool, and names the package that a data directory needs', async () => {
  const project = await makeProject('internal-tool');
  await install(project, '@plant-store/core', '@types/node@24');
  await copyFile(join(repository, 'examples/internal-tool.ts'), join(project, 'internal-tool.ts'));
  const brought = ['@plant-store/schemas', '@trpc/server', 'drizzle-orm', 'postgres', 'superjson'];
  expect(await broughtBy(project, '@plant-store/core')).toEqual(expect.arrayContaining(brought));
  const notNeeded = /pglite|openapi|client|fastify/;
  expect((await installed(project)).filter((name) => notNeeded.test(name))).toEqual([]);

  const runTool = (where: string) => run(project, process.execPath, ['internal-tool.ts', where]);
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  expect(await runTool(databaseUrl)).toContain('rejected 40900');
  const range = coreManifest.peerDependencies['@electric-sql/pglite'];
  await expect(runTool('./data')).rejects.toMatchObject({
    stderr: expect.stringContaining(
      `a data directory needs PGlite: run \`npm install @electric-sql/pglite@${range}\``,
    ),
  });

  await writeFile(join(project, 'node.ts'), typedPrograms.node);
  const options = { target: 'es2024', types: ['node'] };
  expect(await typeErrors(project, ['internal-tool.ts', 'node.ts'], options)).toEqual([]);

  const oldNode = `data:text/javascript,Object.defineProperty(process, 'versions', { value: { node: '20.20.2' } })`;
  await expect(
    run(project, process.execPath, ['--import', oldNode, 'internal-tool.ts', databaseUrl]),
  ).rejects.toMatchObject({
    stderr: expect.stringContaining(
      'this is Node 20.20.2: the plant store needs Node 22.18 or newer',
    ),
  });
});

it('the client needs only seven packages, and works with Vite, React and TanStack Query', async () => {
  const project = await makeProject('front-end');
  // npm also installs the peers, such as @trpc/client, in compatible versions.
  const newest = [
    '@tanstack/react-query',
    '@trpc/tanstack-react-query',
    'react',
    'react-dom',
    'vite',
  ];
  const types = ['@types/react', '@types/react-dom'];
  const packages = [...newest, ...types].map((name) => `${name}@latest`);
  await install(project, '@plant-store/client', ...packages);
  expect(await broughtBy(project, '@plant-store/client')).toEqual([
    '@plant-store/schemas',
    '@trpc/client',
    '@trpc/server',
    'copy-anything',
    'superjson',
    'typescript', // A peer of @trpc/client.
    'zod',
  ]);

  const readme = await readFile(join(repository, 'packages/client/README.md'), 'utf8');
  const snippets = [...readme.matchAll(/```tsx\n(.*?)```/gs)].map(([, code = '']) => code);
  const [button = '', list = ''] = snippets;
  expect(button).toContain('createTRPCOptionsProxy<AppRouter>({ client, queryClient })');
  await writeFile(join(project, 'create-button.tsx'), button);
  await writeFile(join(project, 'live-list.tsx'), list);
  await writeFile(join(project, 'browser.ts'), typedPrograms.browser);
  const options = { target: 'es2022', lib: ['es2022', 'dom'], types: [], jsx: 'react-jsx' };
  const programs = ['create-button.tsx', 'live-list.tsx', 'browser.ts'];
  const errors = await typeErrors(project, programs, options);
  // Ignores errors in the declarations of @trpc/server, which need Node's types.
  const isOfServer = (error: string) => error.startsWith('node_modules/@trpc/server/');
  expect(errors.filter((error) => !isOfServer(error))).toEqual([]);

  await writeFile(
    join(project, 'index.html'),
    '<script type="module" src="/create-button.tsx"></script>',
  );
  await run(project, join(project, 'node_modules/.bin/vite'), ['build']);

  const example = ['index.html', 'main.tsx', 'plants.tsx', 'live-plants.tsx'];
  for (const file of example) {
    await copyFile(join(repository, 'examples/front-end', file), join(project, file));
  }
  const bundled = { ...options, allowImportingTsExtensions: true };
  const errorsOfExample = await typeErrors(project, ['main.tsx'], bundled);
  expect(errorsOfExample.filter((error) => !isOfServer(error))).toEqual([]);
  await run(project, join(project, 'node_modules/.bin/vite'), ['build']);
});

it('the command line works after a global installation', async () => {
  const prefix = join(inject('directory'), 'global');
  const project = await makeProject('garden');
  await mkdir(prefix);
  const userconfig = join(project, '.npmrc'); // For a global package, npm ignores the project's `.npmrc`.
  const options = ['--global', '--prefix', prefix, '--userconfig', userconfig];
  await install(project, ...options, '@plant-store/cli');
  const command = join(
    prefix,
    process.platform === 'win32' ? 'plant-store.cmd' : 'bin/plant-store',
  );
  const plantStore = (args: string[], env = {}) => run(project, command, args, env);

  expect(await plantStore(['--version'])).toBe(
    `${(await readReleased('apps/cli/package.json')).version}\n`,
  );

  const importPlants = ['import', join(repository, 'examples/houseplants.ndjson')];
  const { env, stop } = await startOnPostgres(await createDatabase(inject('postgresUrl')));
  onTestFinished(stop);
  const { PLANT_STORE_URL, PLANT_STORE_TOKEN } = env;
  const settings = { PLANT_STORE_URL, PLANT_STORE_TOKEN };
  expect(await plantStore(importPlants, settings)).toMatch(/\b208 created/);

  const lines = Object.entries(settings).map((setting) => setting.join('='));
  await writeFile(join(project, '.env'), lines.join('\n'));
  expect(await plantStore(importPlants)).toMatch(/\b208 exist already/);
});

it.each(installers)('the command for TanStack Query works with %s', async (name, add) => {
  const project = await makeProject(`strict-${name}`);
  const readme = await readFile(join(repository, 'packages/client/README.md'), 'utf8');
  const [, command = ''] = readme.match(/^npm install (@trpc[^`]*)```$/m) ?? [];
  const packages = command.trim().split(/[\s\\]+/);
  expect(packages).toHaveLength(4);
  // The README names `@types/node` and `@types/ws`.
  const types = ['@types/node@24', '@types/ws@8.5.10', '@types/react'];
  const [file, ...args] = add;
  await run(project, file, [...args, '@plant-store/client', ...packages, 'react', ...types]);
  const [, button = ''] = readme.match(/```tsx\n(.*?)```/s) ?? [];
  await writeFile(join(project, 'create-button.tsx'), button);
  await writeFile(join(project, 'browser.ts'), typedPrograms.browserClient);
  const options = { target: 'es2022', lib: ['es2022', 'dom'], types: ['node'], jsx: 'react-jsx' };
  expect(await typeErrors(project, ['browser.ts', 'create-button.tsx'], options)).toEqual([]);
});

const nodes = ['22.18.0', '26.10.0'];

it('the packages client and core work on other versions of Node, and in Jest', async () => {
  const project = await makeProject('other-nodes');
  const packages = nodes.map((each) => `node-${each}@npm:node-${platform()}-${arch()}@${each}`);
  await install(
    project,
    '--ignore-scripts',
    '@plant-store/core',
    '@plant-store/client',
    'jest@30',
    ...packages,
  );
  await copyFile(join(repository, 'examples/internal-tool.ts'), join(project, 'internal-tool.ts'));
  await writeFile(join(project, 'plants.test.js'), typedPrograms.jest);
  const jest = join(project, 'node_modules/jest/bin/jest.js');
  for (const version of nodes) {
    const node = join(project, `node_modules/node-${version}/bin/node`);
    const databaseUrl = await createDatabase(inject('postgresUrl'));
    expect(await run(project, node, ['internal-tool.ts', databaseUrl])).toContain('rejected 40900');
    const flags = ['--experimental-vm-modules', jest, '--json'];
    const output = await run(project, node, flags, { DATABASE_URL: databaseUrl });
    expect(JSON.parse(output)).toMatchObject({ numPassedTests: 2, numFailedTests: 0 });
  }
});

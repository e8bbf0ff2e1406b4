import {
  copyFile,
  glob,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase, startProcess } from '@plant-store/test-setup';
import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest';
import manifest from '../../apps/cli/package.json' with { type: 'json' };
import coreManifest from '../../packages/core/package.json' with { type: 'json' };
import { broughtBy, installed } from './dependencies.ts';
import { type Registry, startRegistry } from './registry.ts';
import { commit, copyRepository, release } from './release-copy.ts';
import { install, repository, run } from './run.ts';
import { typeErrors } from './type-errors.ts';
import { typedPrograms } from './typed-programs.ts';

// Each test installs packages from the registry, which may be slow.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

/**
 * The files that a published package may have: code, types and source maps, core's migrations,
 * pages, and the files that the server sends.
 */
const published =
  /^package\/(dist\/[\w/-]+(?<!\.test)(\.js|\.d\.ts|\.js\.map)|dist\/files\/.*|src\/pages\/reference\.html|errors\.html|openapi\.json|drizzle\/[\w/]+\.(sql|json)|LICENSE|README\.md|CHANGELOG\.md|package\.json)$/;

const installers = [
  ['npm', ['npm', 'install', '--no-audit', '--no-fund', '--prefer-offline']],
  // The packages are only seconds old.
  ['pnpm', ['pnpm', 'add', '--config.minimum-release-age=0', '--prefer-offline']],
  ['yarn', ['npx', '-y', 'yarn@1.22.22', 'add', '--no-lockfile', '--prefer-offline']],
] as const;

let directory: string;
let registry: Registry;
/** A copy of the repository, from which the packages are released. */
let copy: string;
let released: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plant-store-packed-'));
  copy = join(directory, 'repository');
  registry = await startRegistry(join(directory, 'registry'));
  await copyRepository(copy, registry.npmrc);
  released = await release(copy);
});

afterAll(async () => {
  registry.stop();
  await rm(directory, { recursive: true });
});

const readJson = async (path: string) => JSON.parse(await readFile(join(copy, path), 'utf8'));

/** The versions of the published packages in the copy. */
async function publishedVersions(): Promise<string[]> {
  const paths = await Array.fromAsync(glob('{apps,packages}/*/package.json', { cwd: copy }));
  const manifests = await Promise.all(paths.map(readJson));
  return manifests.filter((each) => !each.private).map(({ version }) => version);
}

/** Makes an empty project outside the workspace. */
async function makeProject(name: string): Promise<string> {
  const project = join(directory, name);
  await mkdir(project);
  await writeFile(join(project, '.npmrc'), registry.npmrc);
  await writeFile(
    join(project, 'package.json'),
    JSON.stringify({ name, private: true, type: 'module' }),
  );
  return project;
}

it('the packages contain only files that their users need', async () => {
  const tarballs = await readdir(join(copy, 'dist-packages'));
  expect(tarballs).toHaveLength((await publishedVersions()).length);
  for (const tarball of tarballs) {
    const files = await run(join(copy, 'dist-packages'), 'tar', ['--list', '--file', tarball]);
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

it('the client is light, and works with Vite, React and TanStack Query', async () => {
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
  // The declarations of @trpc/server have errors of their own without Node's types.
  const isOfServer = (error: string) => error.startsWith('node_modules/@trpc/server/');
  expect(errors.filter((error) => !isOfServer(error))).toEqual([]);

  await writeFile(
    join(project, 'index.html'),
    '<script type="module" src="/create-button.tsx"></script>',
  );
  await run(project, join(project, 'node_modules/.bin/vite'), ['build']);

  // Copies the example of a front end to a place outside the workspace.
  const example = ['index.html', 'main.tsx', 'plants.tsx', 'live-plants.tsx'];
  for (const file of example) {
    await copyFile(join(repository, 'examples/front-end', file), join(project, file));
  }
  const bundled = { ...options, allowImportingTsExtensions: true };
  const errorsOfExample = await typeErrors(project, ['main.tsx'], bundled);
  expect(errorsOfExample.filter((error) => !isOfServer(error))).toEqual([]);
  await run(project, join(project, 'node_modules/.bin/vite'), ['build']);
});

it('the command line works when it is installed globally', async () => {
  const prefix = join(directory, 'global');
  const project = await makeProject('garden');
  await mkdir(prefix);
  const userconfig = join(project, '.npmrc'); // npm reads no `.npmrc` of a project for a global package.
  const options = ['--global', '--prefix', prefix, '--userconfig', userconfig];
  await install(project, ...options, '@plant-store/cli');
  const command = join(
    prefix,
    process.platform === 'win32' ? 'plant-store.cmd' : 'bin/plant-store',
  );
  const plantStore = (args: string[], env = {}) => run(project, command, args, env);

  expect(await plantStore(['--version'])).toBe(`${manifest.version}\n`);
  expect(await plantStore(['completion', 'bash'])).toContain('complete -o default');
  expect(await plantStore(['completion', 'zsh'])).toContain('compdef');

  const importPlants = ['import', join(repository, 'examples/houseplants.ndjson')];
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  expect(await plantStore(importPlants, { DATABASE_URL: databaseUrl })).toMatch(/\b208 created/);
  expect(await plantStore(importPlants)).toMatch(/\b208 created/);
  expect(await readdir(join(project, '.plant-store'))).toContain('postgres');

  await writeFile(join(project, '.env'), `DATABASE_URL=${databaseUrl}\n`);
  expect(await plantStore(importPlants)).toMatch(/\b208 existed/);
});

it.each(installers)('the client has strict types in a project of %s', async (name, add) => {
  const project = await makeProject(`strict-${name}`);
  const [file, ...args] = add;
  await run(project, file, [...args, '@plant-store/client', '@trpc/client', '@trpc/server']);
  await writeFile(join(project, 'browser.ts'), typedPrograms.browserClient);
  const options = { target: 'es2022', lib: ['es2022', 'dom'], types: [] };
  const errors = await typeErrors(project, ['browser.ts'], options);
  expect(errors.filter((error) => !error.includes('/@trpc/server/'))).toEqual([]);
});

it('npx starts the server in an empty directory, and the command line beside it', async () => {
  const env = await makeHome();
  const project = join(directory, 'empty');
  await mkdir(project);
  const start = (settings: Record<string, string> = {}) =>
    startProcess({ ...env, ...settings }, `cd '${project}' && exec npx -y @plant-store/server`);
  const printed = async (server: ReturnType<typeof start>, pattern: RegExp) => {
    const [, match = ''] = await server.printed(pattern);
    return match;
  };
  const shell = (command: string, variables = {}) =>
    run(project, 'sh', ['-c', command], { ...env, ...variables });
  // npx does not forward SIGTERM.
  const stop = async (server: ReturnType<typeof start>) => {
    process.kill(Number(await printed(server, /or kill (\d+)/)));
    expect(await server.ended()).toBe(0);
  };

  const embedded = start();
  const plant = '{"name":"Monstera deliciosa","tag":"Araceae"}';
  expect(await shell(await printed(embedded, /^ {2}(curl .*)$/m))).toBe(plant);
  const page = await fetch(await printed(embedded, /Console +(\S+)#/), {
    headers: { accept: 'text/html' },
  });
  expect(page.headers.get('content-type')).toMatch(/^text\/html/);
  const reference = await printed(embedded, /Reference +(\S+)/);
  for (const path of ['', '/errors', '/js/scalar.js', '/../openapi.json', '/../llms.txt']) {
    expect((await fetch(reference + path)).status).toBe(200);
  }
  await stop(embedded);
  expect(await readdir(join(project, '.plant-store'))).toEqual(
    expect.arrayContaining(['postgres', 'token']),
  );
  expect(await shell('npx -y @plant-store/cli count')).toBe('1\n');

  const databaseUrl = await createDatabase(inject('postgresUrl'));
  const onPostgres = start({ DATABASE_URL: databaseUrl, PLANT_STORE_PROCESSES: '2' });
  const createToken = await printed(onPostgres, /^ {2}(export PLANT_STORE_TOKEN=.*)$/m);
  const curl = await printed(onPostgres, /^ {2}(curl .*)$/m);
  expect(await shell(`${createToken}; ${curl}`)).toBe(plant);
  await stop(onPostgres);
});

it('releases the next version with its changelog, and uploads it only once', async () => {
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
  const { info } = await readJson('apps/api/openapi.json');
  expect(new Set([...(await publishedVersions()), info.version])).toEqual(new Set(['1.1.0']));
  expect(await readFile(join(copy, 'packages/core/CHANGELOG.md'), 'utf8')).toContain(
    'Plants have a height.',
  );
  const project = await makeProject('newest');
  expect(await run(project, 'npm', ['view', '@plant-store/server', 'version'])).toBe('1.1.0\n');
});

it('says before an upload that the packages lack a repository, or that the user is not logged in', async () => {
  expect(released).toContain('add `repository` to the package.json of @plant-store/schemas,');
  await writeFile(join(copy, '.npmrc'), registry.npmrc.replace(/\/\/.*_authToken.*\n/, ''));
  await expect(run(copy, 'pnpm', ['release', 'upload'])).rejects.toMatchObject({
    stderr: expect.stringMatching(/you are not logged in: run `npm login --registry http:/),
  });
  const inWorkflow = { ACTIONS_ID_TOKEN_REQUEST_URL: 'http://127.0.0.1' };
  await expect(run(copy, 'pnpm', ['release', 'upload'], inWorkflow)).rejects.toMatchObject({
    stderr: expect.stringContaining('add `repository` to the package.json'),
  });
});

/** Makes a home directory in which npm has only its downloads of earlier runs. */
async function makeHome(): Promise<Record<string, string>> {
  const home = join(directory, 'home');
  await mkdir(home);
  const npmrc = join(home, '.npmrc');
  await writeFile(npmrc, registry.npmrc);
  const cache = (await run(directory, 'npm', ['config', 'get', 'cache'])).trim();
  await mkdir(join(home, '.npm'));
  await symlink(join(cache, '_cacache'), join(home, '.npm/_cacache'));
  return { ...process.env, HOME: home, npm_config_userconfig: npmrc, npm_config_cache: join(home, '.npm') };
}

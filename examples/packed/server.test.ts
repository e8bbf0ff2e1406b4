import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createDatabase, startProcess } from '@plant-store/test-setup';
import { expect, inject, it, vi } from 'vitest';
import { makeHome, makeProject } from './project.ts';
import { run } from './run.ts';

// npx installs the packages from the registry, which may be slow.
vi.setConfig({ testTimeout: 600_000 });

it('npx runs the server and the command line in an empty directory', async () => {
  const env = await makeHome();
  const project = join(inject('directory'), 'empty');
  await mkdir(project);
  const start = (settings: Record<string, string> = {}) =>
    startProcess({ ...env, ...settings }, `cd '${project}' && exec npx -y @plant-store/server`);
  const printed = async (server: ReturnType<typeof start>, pattern: RegExp) => {
    const [, match = ''] = await server.printed(pattern);
    return match;
  };
  const shell = (command: string, variables = {}) =>
    run(project, 'sh', ['-c', command], { ...env, ...variables });
  // npx does not forward SIGTERM, so the test stops the server's own process.
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
  expect(await readdir(join(project, '.plant-store'))).toEqual(
    expect.arrayContaining(['postgres', 'token']),
  );
  // npm's cache contains only the server's packages, because no other `npx` has run.
  const lock = (await shell('find "$HOME/.npm/_npx" -name .package-lock.json')).trim();
  const { packages } = JSON.parse(await readFile(lock, 'utf8'));
  expect(Object.keys(packages).length).toBeLessThanOrEqual(90);
  const [megabytes] = (await shell(`du -sm --apparent-size '${dirname(lock)}'`)).split('\t');
  expect(Number(megabytes)).toBeLessThanOrEqual(120);

  expect(
    await shell('npx -y @plant-store/cli count', { PLANT_STORE_URL: new URL(reference).origin }),
  ).toBe('1\n');
  await stop(embedded);

  const databaseUrl = await createDatabase(inject('postgresUrl'));
  const onPostgres = start({ DATABASE_URL: databaseUrl, PLANT_STORE_PROCESSES: '2' });
  const createToken = await printed(onPostgres, /^ {2}(export PLANT_STORE_TOKEN=.*)$/m);
  const curl = await printed(onPostgres, /^ {2}(curl .*)$/m);
  expect(await shell(`${createToken}; ${curl}`)).toBe(plant);
  await stop(onPostgres);
});

it('the server serves the console from an archive of Yarn', async () => {
  const project = await makeProject('plug-n-play');
  const [upstream, ours] = [...inject('npmrc').matchAll(/registry=(.*)/g)].map(([, url]) => url);
  const settings = {
    globalFolder: './yarn', // Yarn's own cache may have the same version from an earlier run of these tests.
    npmPreapprovedPackages: ['@plant-store/*'], // Yarn may reject packages that are only seconds old.
    npmRegistryServer: upstream,
    npmScopes: { 'plant-store': { npmRegistryServer: ours } },
    unsafeHttpWhitelist: ['127.0.0.1'],
  };
  await writeFile(join(project, '.yarnrc.yml'), JSON.stringify(settings));
  await writeFile(join(project, 'yarn.lock'), ''); // The root of a project has this file.
  await writeFile(join(project, 'console.js'), requestConsole);
  const yarn = (...args: string[]) =>
    run(project, 'npx', ['-y', '@yarnpkg/cli-dist@4.18.1', ...args]);
  await yarn('add', '@plant-store/server');
  expect(await yarn('node', 'console.js')).toBe('200 text/html; charset=utf-8\n');
});

const requestConsole = `
import { startPlantStore } from '@plant-store/server';

const { url, close } = await startPlantStore({ dataDirectory: './data' });
const { status, headers } = await fetch(url + '/', { headers: { accept: 'text/html' } });
console.log(status, headers.get('content-type'));
await close();
`;

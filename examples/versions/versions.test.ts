import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase, startOnPostgres, startPostgres } from '@plant-store/test-setup';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { repository, run } from '../packed/run.ts';
import { firefox, openFirefox } from './firefox.ts';
import {
  installVersions,
  nodeVersions,
  otherRuntimes,
  postgresVersions,
} from './installed-versions.ts';

let installed: Awaited<ReturnType<typeof installVersions>>;

beforeAll(async () => {
  installed = await installVersions();
}, 600_000); // A download from the registry may be slow.

afterAll(() => installed.remove());

describe.each(nodeVersions)('on Node %s', (version) => {
  it('core creates and reads plants in a directory and in a Postgres', () =>
    useCore(installed.node(version)));

  it('the server creates, reads and deletes a plant', async () => {
    const databaseUrl = await createDatabase(inject('postgresUrl'));
    await usePlant(databaseUrl, `shift; exec '${installed.node(version)}' "$@"`);
  });

  it('the command line imports and counts plants', async () => {
    const databaseUrl = await createDatabase(inject('postgresUrl'));
    await importPlants(databaseUrl, installed.node(version));
  });
});

describe.each(Object.keys(otherRuntimes) as (keyof typeof otherRuntimes)[])('on %s', (name) => {
  it('core creates and reads plants in a directory and in a Postgres', () =>
    useCore(...installed.runtime(name)));

  it('the client creates a plant with an exact id', async () => {
    const { env, stop } = await startOnPostgres(await createDatabase(inject('postgresUrl')));
    onTestFinished(stop);
    const [file, ...args] = installed.runtime(name);
    const program = join(repository, 'examples/versions/create-plant.ts');
    const output = await run(tmpdir(), file, [...args, program], {
      PLANT_STORE_URL: env.PLANT_STORE_URL,
      PLANT_STORE_TOKEN: env.PLANT_STORE_TOKEN,
    });
    expect(output).toBe('created 9007199254740993, then idTaken\n');
  });
});

describe.each(postgresVersions)('on Postgres %s', (version) => {
  let postgres: Awaited<ReturnType<typeof startPostgres>>;

  beforeAll(async () => {
    const binaries = installed.postgres(version);
    postgres = await startPostgres({}, { binaries });
  });

  afterAll(() => postgres.stop());

  it('the server creates, reads and deletes a plant', async () => {
    await usePlant(await createDatabase(postgres.url));
  });

  it('the command line imports and counts plants, and `doctor` recognizes the version of Postgres', async () => {
    const databaseUrl = await createDatabase(postgres.url);
    await importPlants(databaseUrl);
    const doctor = join(repository, 'apps/api/bin/server.js');
    const output = await run(tmpdir(), process.execPath, [doctor, 'doctor'], {
      DATABASE_URL: databaseUrl,
    });
    expect(output).toContain(version.split('.')[0]);
  });
});

it('finds the tested versions in docs/supported-versions.md', async () => {
  const page = await readFile(join(repository, 'docs/supported-versions.md'), 'utf8');
  for (const version of [...nodeVersions, ...Object.values(otherRuntimes)]) {
    expect(page).toContain(version);
  }
  for (const version of postgresVersions) expect(page).toContain(version.replace(/\.0-.*/, ''));
});

it.runIf(firefox)('the console adds a plant in Firefox', async () => {
  const { env, stop } = await startOnPostgres(await createDatabase(inject('postgresUrl')));
  onTestFinished(stop);
  const page = await openFirefox(firefox ?? '');
  onTestFinished(page.close);
  await page.open(`${env.PLANT_STORE_URL}/#token=${env.PLANT_STORE_TOKEN}`);
  await page.click({ role: 'button', name: 'Add a plant' });
  await page.type({ role: 'textbox', name: 'Name' }, 'Hoya carnosa');
  await page.type({ role: 'textbox', name: 'Id' }, '9007199254740993');
  await page.click({ role: 'button', name: 'Add plant' });
  await page.waitForText('Added “Hoya carnosa”');
  await page.click({ role: 'button', name: 'Show' });
  await page.waitForText('9007199254740993');
});

/** Runs the example of an internal tool on a directory and on a Postgres. */
async function useCore(file: string, ...args: string[]): Promise<void> {
  const tool = [...args, join(repository, 'examples/internal-tool.ts')];
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-core-'));
  for (const where of [directory, await createDatabase(inject('postgresUrl'))]) {
    const output = await run(tmpdir(), file, [...tool, where]);
    expect(output).toContain('read 2 of them; the next page is after 9007199254740994');
  }
  await rm(directory, { recursive: true });
}

/** Creates, reads and deletes a plant over REST. */
async function usePlant(databaseUrl: string, shell?: string): Promise<void> {
  const { env, stop } = await startOnPostgres(databaseUrl, shell);
  onTestFinished(stop);
  const send = async (method: string, path: string, body?: string) => {
    const headers = {
      authorization: `Bearer ${env.PLANT_STORE_TOKEN}`,
      'content-type': 'application/json',
    };
    const init = { method, headers, ...(body && { body }) };
    const response = await fetch(env.PLANT_STORE_URL + path, init);
    return `${response.status} ${await response.text()}`;
  };
  const plant = '{"id":9007199254740993,"name":"Hoya carnosa","tag":"🪴"}';
  expect(await send('POST', '/plants', plant)).toBe('200 {"name":"Hoya carnosa","tag":"🪴"}');
  expect(await send('POST', '/plants', plant)).toBe('200 {"name":"Hoya carnosa","tag":"🪴"}');
  expect(await send('POST', '/plants', '{"id":9007199254740993,"name":"x"}')).toMatch(/^409 /);
  expect(await send('GET', '/plants/9007199254740993')).toContain(plant.slice(0, -1));
  expect(await send('GET', '/plants?tag=%F0%9F%AA%B4')).toContain('{"id":9007199254740993,');
  expect(await send('DELETE', '/plants/9007199254740993')).toBe('204 ');
  expect(await send('GET', '/plants/9007199254740993')).toMatch(/^404 /);
}

async function importPlants(databaseUrl: string, node = process.execPath): Promise<void> {
  const plants = join(repository, 'examples/houseplants.ndjson');
  const { env, stop } = await startOnPostgres(databaseUrl);
  onTestFinished(stop);
  const { PLANT_STORE_URL, PLANT_STORE_TOKEN } = env;
  const program = join(repository, 'apps/cli/bin/plant-store.js');
  const plantStore = (...args: string[]) =>
    run(tmpdir(), node, [program, ...args], { PLANT_STORE_URL, PLANT_STORE_TOKEN });
  expect(await plantStore('import', plants)).toMatch(/\b208 created/);
  expect(await plantStore('count')).toContain('208');
}

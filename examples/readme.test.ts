import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createDatabase, hasPosixShell, startOnPostgres } from '@plant-store/test-setup';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';

const exec = promisify(execFile);
const read = (path: string) => readFile(new URL(`../${path}`, import.meta.url), 'utf8');
const readme = await read('README.md');

/** Returns a page's code blocks in a language. The code contains the address of the test's server. */
const blocks = (language: string, page = readme) =>
  [...page.matchAll(/```(\w+)\n(.*?)```/gs)]
    .filter(([, fence]) => fence === language)
    .map(([, , code = '']) => code.replaceAll('http://127.0.0.1:3000', server.env.PLANT_STORE_URL));

let server: Awaited<ReturnType<typeof startOnPostgres>>;
let directory: string;

beforeAll(async () => {
  server = await startOnPostgres(await createDatabase(inject('postgresUrl')));
  directory = await mkdtemp(fileURLToPath(new URL('readme-', import.meta.url)));
});

afterAll(async () => {
  await server.stop();
  await rm(directory, { recursive: true });
});

/**
 * Runs a program of the README from a file in `examples`, where Node finds the packages that it
 * imports.
 */
async function run(code: string) {
  const file = join(directory, 'snippet.ts');
  await writeFile(
    file,
    code.replaceAll('./plants', join(directory, 'plants').replaceAll('\\', '/')),
  );
  return (await exec(process.execPath, [file], { env: server.env, cwd: tmpdir() })).stdout;
}

it.runIf(hasPosixShell)('has curl calls that get the responses in the README', async () => {
  const calls = blocks('sh').filter((code) => code.startsWith('curl'));
  expect(calls).toHaveLength(2);
  for (const [i, call] of calls.entries()) {
    const command = call.replace('$(cat .plant-store/token)', server.env.PLANT_STORE_TOKEN);
    const { stdout } = await exec('sh', ['-c', command]);
    expect(withoutTime(stdout)).toBe(withoutTime(blocks('json')[i]?.trim()));
  }
});

/** Replaces the time of a create, which differs each time. */
const withoutTime = (json = '') => json.replace(/"createdAt":"[\dT:.-]+Z"/, '"createdAt":…');

it('has a program that calls the store over tRPC and works', async () => {
  const [trpc = ''] = blocks('ts');
  expect(await run(trpc)).toBe('[ 9007199254740995n ]\n');
});

it('has a client package whose README has a program that works', async () => {
  const [client = ''] = blocks('ts', await read('packages/client/README.md'));
  expect(await run(client)).toBe('Monstera deliciosa\n');
});

it('has a program that imports core and works', async () => {
  const [, core = ''] = blocks('ts');
  expect(await run(core)).toBe('Monstera deliciosa\n');
});

it('states the right number of houseplants', async () => {
  const plants = await read('examples/houseplants.ndjson');
  expect(readme).toContain(`${plants.trimEnd().split('\n').length} houseplants`);
});

it('has a page of the API whose programs work, one after the other', async () => {
  const output = await run(blocks('ts', await read('docs/api.md')).join('\n'));
  expect(output).toMatch(/^11n created\n12n created\n/);
  expect(output).toMatch(/^11n Hoya carnosa\n12n Ficus lyrata\n/m);
});

it('has a page of the feed whose TypeScript programs work in sequence', async () => {
  const programs = blocks('ts', await read('docs/feed.md'));
  expect(await run(programs.join('\n'))).toMatch(/^\d+\n$/m);
});

it('has a page of access tokens whose program works', async () => {
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  const [program = ''] = blocks('ts', await read('docs/access-tokens.md'));
  const output = await run(`
    import { openPlantStore } from '@plant-store/core';
    const store = await openPlantStore({ databaseUrl: '${databaseUrl}' });
    ${program}
    console.log(token, tokens);
    await store.close();`);
  expect(output).toMatch(/^plant_[\w-]+ \[\s*\{[^}]*name: 'garden-centre'/);
});

it.runIf(hasPosixShell)('has a page of the API with a tRPC call that works', async () => {
  const page = await read('docs/api.md');
  const [call = ''] = blocks('sh', page);
  const { stdout } = await exec('sh', ['-c', call], { env: server.env });
  expect(stdout).toBe(blocks('json', page)[0]?.trim());
});

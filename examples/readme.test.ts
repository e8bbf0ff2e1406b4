import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { glob, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createDatabase, hasPosixShell, startOnPostgres } from '@plant-store/test-setup';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';

const exec = promisify(execFile);
const read = (path: string) => readFile(new URL(`../${path}`, import.meta.url), 'utf8');
const readme = await read('README.md');

/** Returns the code blocks of a page in a language. Replaces the store's address with the test's. */
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

/** Runs a program of a page from a file in `examples`, where Node finds the program's packages. */
async function run(code: string) {
  const file = join(directory, 'snippet.ts');
  await writeFile(
    file,
    code.replaceAll('./plants', join(directory, 'plants').replaceAll('\\', '/')),
  );
  return (await exec(process.execPath, [file], { env: server.env, cwd: tmpdir() })).stdout;
}

it.runIf(hasPosixShell)('the curl calls in the README get the responses shown there', async () => {
  const calls = blocks('sh').filter((code) => code.startsWith('curl'));
  expect(calls).toHaveLength(2);
  for (const [i, call] of calls.entries()) {
    const command = call.replace('$(cat .plant-store/token)', server.env.PLANT_STORE_TOKEN);
    const { stdout } = await exec('sh', ['-c', command]);
    expect(withoutTime(stdout)).toBe(withoutTime(blocks('json')[i]?.trim()));
  }
});

/** Replaces `createdAt`, which differs in each run. */
const withoutTime = (json = '') => json.replace(/"createdAt":"[\dT:.-]+Z"/, '"createdAt":…');

it.each([
  ['that calls the store over tRPC', 'README.md', 0, '[ 9007199254740995n ]\n'],
  ['that imports the package core', 'README.md', 1, 'Monstera deliciosa\n'],
  ['that creates a plant', 'packages/client/README.md', 0, 'Monstera deliciosa\n'],
])('the program %s in %s works', async (_, page, place, output) => {
  expect(await run(blocks('ts', await read(page))[place] ?? '')).toBe(output);
});

it('the README states the right number of houseplants', async () => {
  const plants = await read('examples/houseplants.ndjson');
  expect(readme).toContain(`${plants.trimEnd().split('\n').length} houseplants`);
});

it('the programs in docs/api.md work in sequence', async () => {
  const output = await run(blocks('ts', await read('docs/api.md')).join('\n'));
  expect(output).toMatch(/^1011n created\n1012n created\n/);
  expect(output).toMatch(/^1011n Hoya bella\n1012n Ficus lyrata\n/m);
});

it('the TypeScript programs in docs/feed.md work in sequence', async () => {
  const programs = blocks('ts', await read('docs/feed.md'));
  expect(await run(programs.join('\n'))).toMatch(/^\d+\n$/m);
});

it('the program in docs/access-tokens.md works', async () => {
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

it.runIf(hasPosixShell)('the tRPC call in docs/api.md gets the response shown there', async () => {
  const page = await read('docs/api.md');
  const [call = ''] = blocks('sh', page);
  const { stdout } = await exec('sh', ['-c', call], { env: server.env });
  expect(stdout).toBe(blocks('json', page)[0]?.trim());
});

const repository = fileURLToPath(new URL('..', import.meta.url));
const patterns = ['*.md', 'docs/**/*.md', '{packages,apps,examples}/*/README.md'];
const pages = await Array.fromAsync(glob(patterns, { cwd: repository }));

/** Returns the paths in the links of a page. A link that begins with `./` is an address of a running store. */
async function linkedFrom(page: string) {
  const text = await readFile(join(repository, page), 'utf8');
  const links = [...text.matchAll(/\]\((?!\w+:|\.\/)([^)#\s]+)/g)];
  return links.map(([, path = '']) => join(page, '..', path));
}

it.each([...pages, 'llms.txt'])('each link of %s names an existing file', async (page) => {
  const linked = await linkedFrom(page);
  expect(linked.filter((path) => !existsSync(join(repository, path)))).toEqual([]);
});

it.each(['docs/README.md', 'llms.txt'])('%s lists every page except the indexes', async (list) => {
  const others = [list, 'README.md', join('docs', 'README.md')];
  const expected = pages.filter((page) => !others.includes(page));
  expect(await linkedFrom(list)).toEqual(expect.arrayContaining(expected));
});

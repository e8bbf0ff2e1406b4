import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, inject, it, vi } from 'vitest';
import { repository, run } from './run.ts';

// `checkTypes` compiles all packages twice, which is slow.
vi.setConfig({ testTimeout: 600_000 });

const committed = JSON.parse(await readFile(join(repository, 'apps/api/openapi.json'), 'utf8'));

let directory: string;

/** Makes a repository that contains a tagged release with an OpenAPI document. */
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plant-store-breaking-'));
  await mkdir(join(directory, 'apps/api'), { recursive: true });
  await mkdir(join(directory, '.changeset'));
  await writeDocument(committed);
  const git = (...args: string[]) => run(directory, 'git', args);
  await git('init', '--quiet');
  await git('add', '.');
  const author = ['-c', 'user.name=test', '-c', 'user.email=test@example.com'];
  await git(...author, 'commit', '--quiet', '--message', 'Release');
  await git('tag', 'v1.0.0');
});

afterAll(() => rm(directory, { recursive: true }));

beforeEach(() => writeChangeset('minor'));

function writeDocument(document: object): Promise<void> {
  return writeFile(join(directory, 'apps/api/openapi.json'), JSON.stringify(document));
}

function writeChangeset(kind: string): Promise<void> {
  const text = `---\n"@plant-store/core": ${kind}\n---\n\nA change of plants.\n`;
  return writeFile(join(directory, '.changeset/change.md'), text);
}

/** Changes the OpenAPI document, and checks the document. Returns the check's output on stderr. */
async function check(change: (document: typeof committed) => unknown): Promise<string> {
  const document = structuredClone(committed);
  change(document);
  await writeDocument(document);
  const program = join(repository, 'tools/check-document.mjs');
  return run(directory, process.execPath, [program]).then(
    () => '',
    ({ stderr }) => stderr,
  );
}

type Change = [name: string, change: (document: typeof committed) => unknown];

it.each<Change>([
  ['no change', () => {}],
  ['a new operation', ({ paths }) => Object.assign(paths, { '/gardens': paths['/whoami'] })],
  [
    'a new optional parameter',
    ({ paths }) =>
      paths['/plants'].get.parameters.push({ name: 'x', in: 'query', schema: { type: 'string' } }),
  ],
  [
    'a new field of a response',
    ({ components: { schemas } }) =>
      Object.assign(schemas.StoredPlant.properties, { height: { type: 'integer' } }),
  ],
  [
    'another description',
    ({ components: { schemas } }) => Object.assign(schemas.StoredPlant, { description: 'A plant' }),
  ],
])('accepts %s', async (_, change) => {
  expect(await check(change)).toBe('');
});

const breaking: Change[] = [
  ['a removed operation', ({ paths }) => delete paths['/plants/{id}'].delete],
  [
    'another name of an operation',
    ({ paths }) => Object.assign(paths['/whoami'].get, { operationId: 'identity' }),
  ],
  [
    'a new required field of a request',
    ({ components: { schemas } }) => schemas.NewPlant.required.push('tag'),
  ],
  [
    'a removed field of a response',
    ({ components: { schemas } }) => delete schemas.StoredPlant.properties.tag,
  ],
  [
    'a lower limit of a request',
    ({ components: { schemas } }) =>
      Object.assign(schemas.NewPlants.properties.plants, { maxItems: 10 }),
  ],
];

it.each(breaking)('rejects %s when no changeset announces a major release', async (_, change) => {
  expect(await check(change)).toMatch(
    /^apps\/api\/openapi\.json breaks clients of v1\.0\.0: .*\n.*choose "major"\n$/s,
  );
  await writeChangeset('major');
  expect(await check(change)).toBe('');
});

/** Changes the sources of the release, and checks the types. Returns the check's output on stderr. */
async function checkTypes(changes: [path: string, before: string, after: string][]) {
  const copy = inject('copy');
  try {
    for (const [path, before, after] of changes) {
      const source = await readFile(join(copy, path), 'utf8');
      expect(source).toContain(before);
      await writeFile(join(copy, path), source.replace(before, after));
    }
    return await run(copy, process.execPath, ['tools/check-declarations.mjs']).then(
      () => '',
      ({ stderr }) => stderr,
    );
  } finally {
    await run(copy, 'git', ['checkout', '--quiet', '.']);
  }
}

it('rejects types that break programs, but accepts new options and new exports', async () => {
  const output = await checkTypes([
    [
      'packages/client/src/plant-store-client.ts',
      '  url: string;',
      '  url: string;\n  region?: string;',
    ],
    ['packages/schemas/src/index.ts', 'export {', 'export const more = 1;\nexport {'],
    ['packages/formats/src/index.ts', 'type LineCounts, ', ''],
    [
      'packages/core/src/plant-store.ts',
      'options?: CreateOptions): Promise<ManyCreates',
      'options: CreateOptions): Promise<ManyCreates',
    ],
  ]);
  expect(output).toContain(
    "@plant-store/formats breaks programs: Module '\"../../src/index.ts\"' has no exported member 'LineCounts'",
  );
  expect(output).toMatch(/^@plant-store\/core breaks .*Types of parameters 'options' and/ms);
  expect(output).toContain('choose "major"');
  expect(output).not.toMatch(/^@plant-store\/(client|schemas)/m);
});

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatJson } from '@plant-store/schemas';
import { createDatabase } from '@plant-store/test-setup';
import postgres from 'postgres';
import { afterEach, beforeEach, expect, inject, it, vi } from 'vitest';
import { migrated } from '../fixtures/migrated.ts';
import { run, start } from '../fixtures/run-program.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plant-store-import-'));
});

afterEach(() => rm(directory, { recursive: true }));

const onPostgres = async () => ({ DATABASE_URL: await createDatabase(inject('postgresUrl')) });

async function file(name: string, content: string | Buffer): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, content);
  return path;
}

const refusals = async (path: string) =>
  (await readFile(`${path}.rejects`, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

const summary = (stdout: string) => JSON.parse(stdout);

/** NDJSON of so many plants, some 250 bytes each. */
function* plants(count: number): Generator<string> {
  for (let id = 0; id < count; id++) {
    yield `${formatJson({ id, name: `plant ${id} ${'x'.repeat(200)}`, tag: 'Araceae' })}\n`;
  }
}

it('stores the plants of a file, tells what was there, and lists what it refuses', async () => {
  const env = await onPostgres();
  const ndjson = await file(
    'plants.ndjson',
    `{"id":9007199254740993,"name":"Monstera deliciosa","tag":"Araceae"}
{"id":1,"name":"Ficus lyrata"}

not a plant
{"id":1,"name":"Hoya carnosa"}
{"id":1,"name":"Ficus lyrata","height":3}
{"id":"2","name":"Pilea"}
{"id":-9223372036854775808,"name":"Hoya","tag":""}
`,
  );
  const first = await run(['import', ndjson, '--json'], { env });
  expect(first.code).toBe(3);
  const counts = { rows: 7, conflicts: 1, rejected: 2 };
  const expected = { ...counts, isComplete: true, rejectsFile: `${ndjson}.rejects` };
  expect(summary(first.stdout)).toMatchObject({ ...expected, inserted: 3, present: 1 });
  expect(await refusals(ndjson)).toEqual([
    { line: 4, reason: expect.stringMatching(/^is not JSON: /) },
    { line: 5, reason: 'id 1 belongs to another plant: choose an id that is free' },
    { line: 7, reason: expect.stringMatching(/^invalid input: id must be an integer from/) },
  ]);

  const again = await run(['import', ndjson, '--json'], { env });
  expect(summary(again.stdout)).toMatchObject({ ...expected, inserted: 0, present: 4 });
});

it('reads CSV with any columns, in any order, and lists the records that it cannot read', async () => {
  const env = await onPostgres();
  const csv = await file(
    'plants.csv',
    Buffer.concat([
      Buffer.from('\ufeffname,height,id,tag\r\n"two\r\nlines, one ""tag""",3,1,""\r\n\r\n'),
      Buffer.from('no tag,,2,\r\n,,3,no name\r\nshort,4\r\n'),
      Buffer.from([0xff, 0x0a]),
      Buffer.from('a "quote",,5,x\r\n"closed"early,,6,x\r\nlast,,7,"never closed'),
    ]),
  );
  const { code, stdout } = await run(['import', csv], { env });
  expect(code).toBe(3);
  expect(stdout).toContain('8 rows: 2 inserted, 0 present, 0 conflicts, 6 rejected (');
  expect(await refusals(csv)).toEqual([
    { line: 6, reason: 'invalid input: name is missing: it must be a string' },
    { line: 7, reason: 'has 2 fields where the header has 4' },
    { line: 8, reason: 'is not UTF-8, or is longer than 64 MiB' },
    { line: 9, reason: 'has a quote within a field that is not quoted' },
    { line: 10, reason: 'has text behind a quoted field' },
    { line: 11, reason: 'opens a quote that is never closed' },
  ]);
  const sql = postgres(env.DATABASE_URL);
  expect(await sql`select id, name, tag from plants order by id`).toEqual([
    { id: '1', name: 'two\r\nlines, one "tag"', tag: '' },
    { id: '2', name: 'no tag', tag: null },
  ]);
  await sql.end();
});

it('says how far it is in plain lines where there is no terminal, and leaves no rejects behind', async () => {
  const path = await file('plants.jsonl', [...plants(10)].join(''));
  await file('plants.jsonl.rejects', 'of another import');
  const { code, stdout, stderr } = await run(['import', path], { env: await onPostgres() });
  expect(code).toBe(0);
  expect(stderr).toMatch(/^plant-store: 100%, 10 rows, \d+ rows\/s, ETA \S+$/m);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what moves a terminal's cursor.
  expect(stderr).not.toMatch(/[\r\x1b]/);
  expect(stdout).toMatch(/^10 rows: 10 inserted, .* rows\/s\)\n$/);
  await expect(readFile(`${path}.rejects`)).rejects.toThrow('ENOENT');
});

it('stores the neighbours of a row that the database refuses', async () => {
  const env = await onPostgres();
  const sql = await migrated(env);
  await sql`alter table plants add constraint no_poison check (id <> 250)`;
  const path = await file('plants.ndjson', [...plants(500)].join(''));
  const { stdout } = await run(['import', path, '--json'], { env });
  expect(summary(stdout)).toMatchObject({ rows: 500, inserted: 499, rejected: 1 });
  expect(await refusals(path)).toEqual([
    {
      line: 251,
      reason: 'invalid input: the database cannot hold this plant (SQLSTATE 23514)',
    },
  ]);
  await sql.end();
});

it('stops at the first row that is not stored when it is told to be strict', async () => {
  const env = await onPostgres();
  const path = await file('plants.ndjson', '{"id":1,"name":"x"}\n{"id":2}\n');
  const { code, stdout, stderr } = await run(['import', path, '--strict', '--json'], { env });
  expect(code).toBe(3);
  expect(summary(stdout)).toMatchObject({ inserted: 1, rejected: 1, isComplete: false });
  expect(stderr).toContain('line 2: invalid input: name is missing: it must be a string: mend it');
});

/** Enough to be handed to the database in several parts. */
const many = 30_000;

/** An import that has stored a part of its rows and waits for the rest. */
async function halfWay(env: { DATABASE_URL: string }) {
  const started = start(['import', '-', '--json', '--rejects', join(directory, 'rejects')], {
    env,
  });
  started.child.stdin.write([...plants(many / 2)].join(''));
  const sql = postgres(env.DATABASE_URL, { onnotice: () => {} });
  await vi.waitFor(async () => expect(await sql`select from plants limit 1`).toHaveLength(1), {
    timeout: 20_000,
    interval: 100,
  });
  return { ...started, sql };
}

it('is completed by running it again when it was killed half way', async () => {
  const env = await onPostgres();
  const { child, ended, sql } = await halfWay(env);
  child.kill('SIGKILL');
  await ended;

  const path = await file('plants.ndjson', [...plants(many)].join(''));
  const { stdout } = await run(['import', path, '--json'], { env });
  const { present, inserted, ...rest } = summary(stdout);
  expect(rest).toMatchObject({ rows: many, conflicts: 0, rejected: 0, isComplete: true });
  expect(present).toBeGreaterThan(0);
  expect(inserted).toBe(many - present);
  expect(await sql`select count(*)::int from plants`).toEqual([{ count: many }]);
  await sql.end();
});

it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('says what is stored when %s ends it', async (signal, exitCode) => {
  const { child, ended, sql } = await halfWay(await onPostgres());
  child.kill(signal);
  const { code, stdout, stderr } = await ended;
  expect(code).toBe(exitCode);
  const [stored] = await sql`select count(*)::int as inserted from plants`;
  expect(summary(stdout)).toMatchObject({ ...stored, isComplete: false });
  expect(stderr).toContain('plant-store: interrupted: run the import again to complete it\n');
  await sql.end();
});

it('says how to go on when the database is lost on the way', async () => {
  const env = await onPostgres();
  const { child, ended, sql } = await halfWay(env);
  await sql`drop table plants`;
  child.stdin.end([...plants(many)].join(''));
  const { code, stdout, stderr } = await ended;
  expect(code).toBe(1);
  expect(summary(stdout)).toMatchObject({ isComplete: false });
  expect(stderr).toContain('plant-store: the database did not answer: run the import again to');
  await sql.end();
});

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { allPlants } from '@plant-store/client';
import { afterEach, expect, test } from 'vitest';
import { run } from './fixtures/run.ts';
import { useStore } from './fixtures/store.ts';

const store = useStore();

const stored = async () => {
  const plants: Record<string, string> = {};
  for await (const { id, name } of allPlants(store.client)) plants[String(id)] = name;
  return plants;
};

afterEach(async () => {
  for (const id of Object.keys(await stored())) {
    await store.client.deletePlant.mutate({ id: BigInt(id) });
  }
});

const mixed =
  'id,name,tag\n1,Hoya,Apocynaceae\nx,Aloe,\n2,"two\nlines",\n\n3\n1,Ficus,\n1,Hoya,Apocynaceae\n';

test('the import counts each line once: as a row, a header, a blank line or a continuation', async () => {
  const file = await store.file('mixed.csv', mixed);
  const { code, stdout, stderr } = await store.run(['import', file]);
  expect(code).toBe(3);
  expect(stdout).toBe(
    '9 lines, 1 header, 1 blank, 1 continued, 2 created, 1 exists, 1 conflicts, 2 rejected\n',
  );
  expect(stderr.replaceAll(file, 'file').split('\n').sort()).toEqual([
    '',
    expect.stringMatching(/^file:3: .*id/),
    expect.stringMatching(/^file:7: .*header has 3/),
    'file:8: id 1 belongs to another plant: choose an id that is free',
  ]);
  expect(await stored()).toEqual({ 1: 'Hoya', 2: 'two\nlines' });
});

test('a second import of a file changes nothing', async () => {
  const file = await store.file('again.csv', 'id,name\n1,Hoya\n9007199254740993,Aloe\n');
  expect(await store.run(['import', file])).toMatchObject({
    stdout: '3 lines, 1 header, 2 created\n',
  });
  const before = await store.client.getPlant.query({ id: 9007199254740993n });
  expect(await store.run(['import', file])).toEqual({
    code: 0,
    stdout: '3 lines, 1 header, 2 exists\n',
    stderr: '',
  });
  expect(await store.client.getPlant.query({ id: 9007199254740993n })).toEqual(before);
});

test('with --json, the import writes the totals and the rejected rows as JSON', async () => {
  const file = await store.file('mixed.csv', mixed);
  const { stdout, stderr } = await store.run(['import', file, '--json']);
  expect(JSON.parse(stdout)).toEqual({
    lines: 9,
    created: 2,
    exists: 1,
    conflicts: 1,
    rejected: 2,
    unconfirmed: 0,
    valid: 0,
    header: 1,
    blank: 1,
    continued: 1,
  });
  const rows = stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(rows.map(({ line }) => line).sort()).toEqual([3, 7, 8]);
  expect(rows).toContainEqual({ file, line: 3, message: expect.stringContaining('id') });
});

test('--rejects writes the lines of the rejected rows, which can be imported after a correction', async () => {
  const file = await store.file('mixed.csv', mixed);
  const rejects = join(store.directory, 'rejects.csv');
  await store.run(['import', file, '--rejects', rejects]);
  const text = await readFile(rejects, 'utf8');
  expect(text.split('\n').sort()).toEqual(['', '1,Ficus,', '3', 'x,Aloe,', '\ufeffid,name,tag']);
  const corrected = text.replace('x,', '4,').replace('3\n', '3,Begonia,\n').replace('1,', '5,');
  const again = await store.run(['import', await store.file('corrected.csv', corrected)]);
  expect(again).toMatchObject({ code: 0, stdout: '4 lines, 1 header, 3 created\n' });
});

test('--rejects cannot name a file of the import', async () => {
  const file = await store.file('mixed.csv', mixed);
  expect(await store.run(['import', file, '--rejects', file])).toMatchObject({
    code: 2,
    stdout: '',
  });
  expect(await readFile(file, 'utf8')).toBe(mixed);
});

test('--dry-run checks the rows, and stores nothing', async () => {
  const file = await store.file('mixed.csv', mixed);
  const { code, stdout } = await store.run(['import', file, '--dry-run', '--json']);
  expect({ code, ...JSON.parse(stdout) }).toMatchObject({
    code: 3,
    valid: 4,
    rejected: 2,
    created: 0,
  });
  expect(await stored()).toEqual({});
});

test('the import reads several files, gzip, NDJSON and standard input', async () => {
  const csv = await store.file('a.csv.gz', gzipSync('id;name\r\n1;Hoya\r\n'));
  const ndjson = await store.file('b.ndjson', '{"id":2,"name":"Aloe"}\n');
  const { code, stdout } = await store.run(['import', csv, ndjson, '-'], 'id,name\n3,Ficus\n');
  expect({ code, stdout }).toEqual({ code: 0, stdout: '5 lines, 2 header, 3 created\n' });
  expect(await stored()).toEqual({ 1: 'Hoya', 2: 'Aloe', 3: 'Ficus' });
});

test('the import leaves out the column created_at, with a note', async () => {
  const input = 'id,name,created_at\n1,Hoya,2001-01-01T00:00:00Z\n';
  const { code, stderr } = await store.run(['import', '-'], input);
  expect(code).toBe(0);
  expect(stderr).toMatch(/^-: .*created_at.*\n$/);
  const { createdAt } = await store.client.getPlant.query({ id: 1n });
  expect(createdAt.getFullYear()).toBeGreaterThan(2001);
});

test('the import stores the first of two rows with the same id, even in a large file', async () => {
  const rows = Array.from({ length: 4_000 }, (_, at) => `${at % 2_000},Plant ${at}\n`);
  const { stdout } = await store.run(['import', '-', '--json'], `id,name\n${rows.join('')}`);
  expect(JSON.parse(stdout)).toMatchObject({ created: 2_000, conflicts: 2_000 });
  expect((await store.client.getPlant.query({ id: 1_999n })).name).toBe('Plant 1999');
});

test('the import rejects a plant that is too large for a request, and stores the other plants', async () => {
  const input = `{"id":1,"name":"Hoya"}\n{"id":2,"name":"${'x'.repeat(2 ** 20)}"}\n{"id":3,"name":"Aloe"}\n`;
  const { code, stderr } = await store.run(['import', '-'], input);
  expect(code).toBe(3);
  expect(stderr).toMatch(/^-:2: .*1 MiB/);
  expect(await stored()).toEqual({ 1: 'Hoya', 3: 'Aloe' });
});

test('an unclosed quote stops the import at its line, with correct totals', async () => {
  const input = 'id,name\n1,Hoya\n2,"Aloe\n3,Ficus\n';
  const { code, stdout, stderr } = await store.run(['import', '-', '--json'], input);
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ created: 1 });
  expect(stderr).toMatch(/line 3/);
  expect(await stored()).toEqual({ 1: 'Hoya' });
});

test('the import reports a file with an unknown column', async () => {
  const { code, stderr } = await store.run(['import', '-'], 'nr,naam\n1,Hoya\n');
  expect(code).toBe(1);
  expect(stderr).toMatch(/^plant-store: -: /);
});

test('the import reports a missing file', async () => {
  const { code, stderr } = await store.run(['import', join(store.directory, 'missing.csv')]);
  expect(code).toBe(1);
  expect(stderr).toContain('ENOENT');
});

test('a token without the scope plants:create stops the import', async () => {
  const { token } = await store.client.createAccessToken.mutate({
    name: 'r',
    scopes: ['plants:read'],
  });
  const env = { ...store.env, PLANT_STORE_TOKEN: token };
  const { code, stdout, stderr } = await run(['import', '-', '--json'], {
    env,
    input: 'id,name\n1,Hoya\n',
  });
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ created: 0, unconfirmed: 1 });
  expect(stderr).toContain('"error":40300');
});

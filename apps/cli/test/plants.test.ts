import { beforeAll, expect, test } from 'vitest';
import { run } from './fixtures/run.ts';
import { useStore } from './fixtures/store.ts';

const store = useStore();
const greatest = 9223372036854775807n;

beforeAll(async () => {
  const plants = [
    { id: -5n, name: 'Hoya carnosa', tag: 'Apocynaceae' },
    { id: 1n, name: 'Monstera\u001b[31m\u009b31m deliciosa', tag: 'Araceae' },
    { id: greatest, name: 'Monstera adansonii', tag: 'Araceae' },
  ];
  await store.client.createPlants.mutate({ plants });
});

test('list shows plants in the order of their ids, with control characters escaped', async () => {
  expect(await store.run(['list'])).toEqual({
    code: 0,
    stdout:
      '-5                   "Hoya carnosa"  "Apocynaceae"\n' +
      '1                    "Monstera\\u001b[31m\\u009b31m deliciosa"  "Araceae"\n' +
      '9223372036854775807  "Monstera adansonii"  "Araceae"\n',
    stderr: '',
  });
});

test('list selects plants by tag and search, and says how to see more plants', async () => {
  const { stdout, stderr } = await store.run([
    'list',
    '--json',
    '--tag',
    'Araceae',
    '--limit',
    '1',
  ]);
  expect(JSON.parse(stdout)).toMatchObject({ id: 1, tag: 'Araceae' });
  expect(stderr).toBe('plant-store: there are more plants: add --after 1\n');
  const next = await store.run(['list', '--after', '1', '--search', 'ADANSONII', '--json']);
  expect(next.stdout).toContain('{"id":9223372036854775807,"name":"Monstera adansonii"');
});

test('get shows one plant with its exact id', async () => {
  const { code, stdout } = await store.run(['get', String(greatest), '--json']);
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^\{"id":9223372036854775807,"name":"Monstera adansonii","tag":"Araceae","createdAt":"[^"]+","etag":"\d+"\}\n$/,
  );
});

test('get reports an unknown id, with exit code 1', async () => {
  expect(await store.run(['get', '77'])).toEqual({
    code: 1,
    stdout: '',
    stderr: 'plant-store: no plant has the id 77: check the id\n',
  });
});

test('count counts all plants, or only the plants with a tag', async () => {
  expect(await store.run(['count'])).toMatchObject({ stdout: '3\n' });
  const { stdout } = await store.run(['count', '--tag', 'Araceae', '--json']);
  expect(JSON.parse(stdout)).toEqual({ count: 2, isExact: true });
});

test('delete deletes a plant, and a second delete finds no plant', async () => {
  await store.client.createPlant.mutate({ id: 2n, name: 'Aloe' });
  expect(await store.run(['delete', '2'])).toMatchObject({
    code: 0,
    stdout: 'deleted the plant with the id 2\n',
  });
  const { code, stderr } = await store.run(['delete', '2', '--json']);
  expect(code).toBe(1);
  expect(JSON.parse(stderr)).toEqual({
    error: 40401,
    message: 'no plant has the id 2: check the id',
  });
});

test('replace changes the name and the tag, and --if-match protects newer content', async () => {
  await store.client.createPlant.mutate({ id: 3n, name: 'Aloe', tag: 'Asphodelaceae' });
  const { etag } = await store.client.getPlant.query({ id: 3n });
  const replace = ['replace', '3', '--name', 'Aloe vera', '--if-match', etag];
  const replaced = await store.run([...replace, '--json']);
  expect(replaced.code).toBe(0);
  const plant = JSON.parse(replaced.stdout);
  expect(plant).toMatchObject({ id: 3, name: 'Aloe vera', updatedAt: expect.any(String) });
  expect(plant.tag).toBeUndefined();

  const again = await store.run([...replace, '--json']);
  expect({ code: again.code, ...JSON.parse(again.stderr) }).toMatchObject({
    code: 1,
    error: 41200,
  });
  expect(await store.run(['delete', '3', '--if-match', etag])).toMatchObject({ code: 1 });
  expect(await store.run(['delete', '3', '--if-match', plant.etag])).toMatchObject({ code: 0 });
  const gone = await store.run(['replace', '3', '--name', 'Aloe', '--json']);
  expect({ code: gone.code, ...JSON.parse(gone.stderr) }).toMatchObject({ code: 1, error: 40401 });
});

test.each([
  [['get', '1.5'], "'1.5' is invalid for argument 'id'"],
  [['list', '--limit', '0'], "'0' is invalid. It must be a whole number"],
  [['list', '--colour', 'green'], "unknown option '--colour'"],
  [['replace', '1'], "required option '--name <name>' not specified"],
  [['nothing'], "unknown command 'nothing'"],
  [['token', 'nothing'], "unknown command 'nothing'"],
])('the arguments %j get exit code 2, and an explanation', async (args, message) => {
  const { code, stdout, stderr } = await run(args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(message);
  const asJson = await run([...args, '--json']);
  expect(JSON.parse(asJson.stderr)).toMatchObject({ error: 40001 });
});

test.each([
  'import',
  'export',
  'list',
  'get',
  'count',
  'replace',
  'delete',
  'follow',
  'token create',
  'token list',
  'token revoke',
  ...['create', 'list', 'show', 'pause', 'resume', 'delete', 'rotate', 'replay', 'test'].map(
    (name) => `webhook ${name}`,
  ),
])('the help of %s lists --json and the exit codes', async (name) => {
  const { code, stdout } = await run([...name.split(' '), '--help']);
  expect(code).toBe(0);
  expect(stdout).toContain(`Usage: plant-store ${name} `);
  expect(stdout).toContain('--json');
  expect(stdout).toMatch(/^Exit codes: 0 .+, 1 .+, 2 .+/m);
});

test('--version shows the version of the package', async () => {
  expect(await run(['--version'])).toMatchObject({ code: 0, stdout: '1.0.0\n' });
});

import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { run, start } from './fixtures/run.ts';
import { useStore } from './fixtures/store.ts';

const store = useStore();
const plants = Array.from({ length: 5_000 }, (_, at) => ({ id: BigInt(at * 2), name: `Ä ${at}` }));

beforeAll(async () => {
  for (let at = 0; at < plants.length; at += 1_000) {
    await store.client.createPlants.mutate({ plants: plants.slice(at, at + 1_000) });
  }
  await store.client.createPlant.mutate({ id: 9007199254740993n, name: 'a "b", c', tag: 'long' });
});

test('export writes CSV with a byte order mark, and with ids as plain digits', async () => {
  const { code, stdout } = await store.run(['export', '--format', 'csv', '--tag', 'long']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^\ufeffid,name,tag,created_at/);
  expect(stdout.split('\n')[1]).toMatch(/^9007199254740993,"a ""b"", c",long,20/);
});

test('export writes the format of the file extension, and an import of the file changes nothing', async () => {
  const files = ['all.csv', 'all.ndjson'].map((name) => join(store.directory, name));
  for (const file of files) {
    expect(await store.run(['export', file])).toEqual({ code: 0, stdout: '', stderr: '' });
    const { code, stdout } = await store.run(['import', file, '--json']);
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 0, created: 0, exists: 5_001 });
  }
  expect((await readdir(store.directory)).filter((name) => name.endsWith('.incomplete'))).toEqual(
    [],
  );
  const lines = (await readFile(join(store.directory, 'all.ndjson'), 'utf8')).trim().split('\n');
  expect(lines).toHaveLength(5_001);
});

test('a closed pipe ends an export', async () => {
  const { child, result } = start(['export'], { env: store.env });
  await once(child.stdout, 'readable');
  child.stdout.destroy();
  expect(await result).toMatchObject({ code: 0, stderr: '' });
});

test('SIGTERM ends an export that waits for its reader', async () => {
  const { child, result } = start(['export'], { env: store.env });
  await once(child.stdout, 'readable');
  child.kill();
  child.stdout.resume();
  expect(await result).toMatchObject({ code: 'SIGTERM' });
});

test('export reports a file that cannot be written', async () => {
  const file = join(store.directory, 'missing', 'all.csv');
  const { code, stderr } = await store.run(['export', file]);
  expect(code).toBe(1);
  expect(stderr).toContain('ENOENT');
});

test('the error of an export says that the output is incomplete', async () => {
  const env = { ...store.env, PLANT_STORE_TOKEN: 'wrong-token-of-a-test' };
  const { code, stderr } = await run(['export'], { env });
  expect(code).toBe(1);
  expect(stderr).toMatch(/; the output is incomplete\n$/);
});

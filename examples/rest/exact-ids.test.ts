import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createDatabase, startOnPostgres } from '@plant-store/test-setup';
import createClient from 'openapi-fetch';
import { afterAll, beforeAll, expect, expectTypeOf, inject, it } from 'vitest';
import { type ExactIds, exactIds, formatExactly } from './exact-ids.ts';
import type { components, paths } from './plant-store.d.ts';

type PlantPage = ExactIds<components['schemas']['PlantPage']>;

let server: Awaited<ReturnType<typeof startOnPostgres>>;

beforeAll(async () => {
  server = await startOnPostgres(await createDatabase(inject('postgresUrl')));
});

afterAll(() => server.stop());

const options = () => ({
  baseUrl: server.env.PLANT_STORE_URL,
  headers: { authorization: `Bearer ${server.env.PLANT_STORE_TOKEN}` },
});

it('a generated client without the helper rounds ids beyond 2^53, in both directions', async () => {
  const store = createClient<paths>(options());
  const body = { id: Number(9007199254740993n), name: 'Ficus lyrata' };
  await store.POST('/plants', { body });
  const { data } = await store.GET('/plants', {});
  expect(data?.plants).toMatchObject([{ id: 9007199254740992 }]);

  const exact = { ...body, id: 9007199254740993n as unknown as number };
  await expect(store.POST('/plants', { body: exact })).rejects.toThrow(TypeError);
});

it('a generated client with the helper writes and reads every id exactly', async () => {
  const store = createClient<ExactIds<paths>>({ ...options(), bodySerializer: formatExactly });
  for (const id of [-(2n ** 63n), 1n, 2n ** 63n - 2n, 2n ** 63n - 1n]) {
    await store.POST('/plants', { body: { id, name: 'Hoya carnosa', tag: 'exact' } });
  }
  const query = { tag: 'exact', limit: 3 };
  const { data = '' } = await store.GET('/plants', { params: { query }, parseAs: 'text' });
  const page: PlantPage = JSON.parse(data, exactIds);
  expect(page.plants.map(({ id }) => id)).toEqual([-9223372036854775808n, 1n, 2n ** 63n - 2n]);
  expect(page.next).toBe(9223372036854775806n);
  expectTypeOf(page.next).toEqualTypeOf<bigint | undefined>();
});

it('the helper does not change other values', () => {
  const text = '{"error":40001,"next":"a cursor","id":null,"count":9007199254740993}';
  expect(JSON.parse(text, exactIds)).toEqual(JSON.parse(text));
});

it('the helper throws when JSON.parse does not pass the source text', () => {
  expect(() => exactIds('id', 1)).toThrow(SyntaxError);
});

it('has a README whose line makes JSON.stringify write a bigint', async () => {
  const readme = await readFile(new URL('README.md', import.meta.url), 'utf8');
  const [, line = ''] = /```js\n(.*?)```/s.exec(readme) ?? [];
  const program = `${line}; console.log(JSON.stringify({ id: 9007199254740993n }))`;
  const { stdout } = spawnSync(process.execPath, ['--eval', program], { encoding: 'utf8' });
  expect(stdout).toBe('{"id":9007199254740993}\n');
});

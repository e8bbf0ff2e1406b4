import { inspect } from 'node:util';
import { formatJson } from '@plant-store/schemas';
import { createDatabase } from '@plant-store/test-setup';
import postgres from 'postgres';
import superjson from 'superjson';
import { beforeAll, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { openPlantStore } from '../../src/plant-store.ts';
import { jsonOf, superjsonOf } from '../../src/plants/output-text.ts';
import { createPlants } from '../../src/procedures/create-plants.ts';
import { closeAtEnd, embedded, server, shareStore } from '../fixtures/databases.ts';

const texts = [
  'Monstera "deliciosa" 🌿',
  'C:\\n\\u0041\\"',
  Array.from({ length: 32 }, (_, code) => String.fromCharCode(code + 1)).join(''),
  '\u007f\u0080\u2028\u2029\ufeff\uffff',
  '"id":5,{"id":6,"next":7',
  '"createdAt":"2026-01-01T00:00:00.000Z"',
  ' ',
];

const times = [
  '2026-01-02T03:04:05.678999Z',
  '1969-12-31T23:59:59.999999Z',
  '0001-01-01T00:00:00Z',
  '0099-12-31T23:59:59.999Z',
  '9999-12-31T23:59:59.999999Z',
  '12026-01-01T00:00:00Z',
  '0001-06-01T00:00:00Z BC',
  '0044-03-15T12:00:00Z BC',
  'infinity',
  '-infinity',
  '2026-01-02T03:04:05.1Z',
  '2026-01-02T03:04:05.12Z',
];

/** Writes a value as superjson does, but without superjson's notes about identical objects. */
function superjsonText(value: unknown): string {
  const { json, meta } = superjson.serialize(value);
  delete meta?.referentialEqualities;
  return JSON.stringify({ json, meta });
}

describe.each([embedded, server])('the JSON of an output on $name', ({ provide }) => {
  const store = shareStore(provide);
  let cursor: string;

  beforeAll(async () => {
    cursor = (await store.changes({})).next;
    const ids = [-(2n ** 63n), 2n ** 63n - 1n, 0n, 2n ** 53n + 1n];
    await store.load([
      ...ids.map((id) => ({ id, name: 'a plant' })),
      ...texts.map((text, i) => ({ id: BigInt(10 + i), name: text, tag: text })),
      ...times.map((createdAt, i) => ({ id: BigInt(20 + i), name: 'old', tag: '', createdAt })),
    ]);
    await store.delete(20n);
  });

  const outputs: [name: string, read: () => Promise<object | undefined>][] = [
    ['all plants', () => store.list({ limit: 1_000 })],
    ['a page with a next page', () => store.list({ limit: 7 })],
    ['an empty page', () => store.list({ limit: 7, tag: 'none' })],
    ['a page of a search', () => store.list({ limit: 2, search: 'PLANT' })],
    ['a plant', () => store.get(2n ** 63n - 1n)],
    ['a plant with a tag', () => store.get(12n)],
    ['changes', () => store.changes({ after: cursor })],
    ['a page of changes', () => store.changes({ after: cursor, limit: 3 })],
    ['no changes', () => store.changes({})],
    ['changes of a follower', async () => (await store.follow({ after: cursor }).next()).value],
  ];

  it.each(outputs)('writes %s in the same way as formatJson', async (_name, read) => {
    const output = await read();
    const copy = structuredClone({ ...output });
    expect(jsonOf(output)).toBe(formatJson(copy));
    expect(superjsonOf(output)).toBe(superjsonText(copy));
  });

  it('writes the results of creates in the same way as formatJson', async () => {
    const plants = [1n, 11n, 0n].map((id) => ({ id, name: 'a plant' }));
    const principal = { id: 'a', name: 'Ann', scopes: ['plants:create' as const] };
    const output = await createPlants.definition.call({
      ctx: { store, principal },
      getRawInput: () => ({ plants }),
    });
    expect(output).toMatchObject({
      results: [{ result: 'created' }, { error: 40900 }, { result: 'exists' }],
    });
    expect(jsonOf(output)).toBe(formatJson(output));
    expect(superjsonOf(output)).toBe(superjsonText(output));
  });

  it('returns the nearest possible Date for a time that a Date cannot represent', async () => {
    const found = await Promise.all(times.map((_, i) => store.get(BigInt(20 + i))));
    expect(found.map((plant) => plant?.createdAt.toISOString())).toEqual([
      undefined,
      '1969-12-31T23:59:59.999Z',
      '0001-01-01T00:00:00.000Z',
      '0099-12-31T23:59:59.999Z',
      '9999-12-31T23:59:59.999Z',
      '+012026-01-01T00:00:00.000Z',
      '0000-06-01T00:00:00.000Z',
      '-000043-03-15T12:00:00.000Z',
      '+275760-09-13T00:00:00.000Z',
      '-004713-11-24T00:00:00.000Z',
      '2026-01-02T03:04:05.100Z',
      '2026-01-02T03:04:05.120Z',
    ]);
  });

  it('lets a caller read a page like an ordinary object', async () => {
    const page = await store.list({ limit: 1 });
    expect(inspect(page)).toContain("name: 'a plant'");
    expect(Object.getOwnPropertyDescriptor(page, 'plants')).toHaveProperty('value');
    const frozen = Object.freeze(await store.list({ limit: 1 }));
    expect(frozen.plants).toBe(frozen.plants);
    page.plants = [];
    expect(page).toEqual({ plants: [], next: -(2n ** 63n) });
  });
});

it('reads plants even when settings, functions or constraints of the database are changed', async () => {
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  onTestFinished(() => sql.end());
  const { pathname } = new URL(databaseUrl);
  await sql.unsafe(`
    alter database "${pathname.slice(1)}" set standard_conforming_strings = off;
    create function to_json(text) returns json language sql as 'select null::json'`);
  const store = closeAtEnd(await openPlantStore({ databaseUrl }));
  await store.ready();
  await sql`alter table plants alter name drop not null, alter created_at drop not null`;
  await sql`insert into plants values (1, null, null, null), (2, 'Hoya', 'a', '2026-01-02')`;
  const whole = { id: 2n, name: 'Hoya', tag: 'a', createdAt: new Date('2026-01-02') };
  expect(await store.list({ limit: 10 })).toEqual({ plants: [{ id: 1n }, whole] });
  const search = { search: 'oy', limit: 10 };
  // On a busy machine, the time limit can end a page before the search has found a plant.
  await vi.waitFor(async () => expect(await store.list(search)).toEqual({ plants: [whole] }));
  expect(await Promise.all([store.get(1n), store.get(2n)])).toEqual([{ id: 1n }, whole]);
});

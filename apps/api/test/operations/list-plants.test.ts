import { beforeAll, describe, expect, it } from 'vitest';
import { itNeedsTheScope } from '../fixtures/access.ts';
import { callers, surfaceCallers } from '../fixtures/callers.ts';
import { shareServer } from '../fixtures/server.ts';
import { get } from '../fixtures/surfaces.ts';

const server = shareServer();
const [rest] = callers;

const ids = [-(2n ** 63n), -9007199254740993n, -5n, 0n, 7n, 9007199254740993n, 2n ** 63n - 1n];
const sunflowers = Array.from({ length: 101 }, (_, i) => 1000n + BigInt(i));
const all = [...ids.slice(0, 5), ...sunflowers, ...ids.slice(5)];

beforeAll(async () => {
  const plants = [
    ...ids.map((id) => ({ id, name: `Plant ${id}`, tag: 'seven' })),
    ...sunflowers.map((id) => ({ id, name: "Helianthus 'Teddy Bear' 100%_\\" })),
  ];
  await rest.call(server, 'createPlants', { plants });
});

interface Page {
  plants: { id: bigint; name: string; tag?: string; createdAt: Date }[];
  next?: unknown;
}

itNeedsTheScope('plants:read', server, 'listPlants', () => ({}));

describe.each(surfaceCallers)('listPlants over $name', ({ call }) => {
  const list = async (query: Record<string, unknown> = {}) =>
    (await call(server, 'listPlants', query)).output as Page;
  const idsOf = ({ plants }: Page) => plants.map(({ id }) => id);

  it('returns the first 100 plants in the order of their ids', async () => {
    const page = await list();
    expect(idsOf(page)).toEqual(all.slice(0, 100));
    const [first] = page.plants;
    expect(first).toEqual({
      ...{ id: ids[0], name: `Plant ${ids[0]}`, tag: 'seven' },
      createdAt: expect.any(Date),
    });
  });

  it('returns every plant once when a client follows `next`, with any limit', async () => {
    for (const limit of [1, 40, 1000]) {
      const seen: bigint[] = [];
      let page = await list({ limit });
      seen.push(...idsOf(page));
      while (page.next !== undefined) {
        page = await list({ limit, after: page.next });
        seen.push(...idsOf(page));
      }
      expect(seen).toEqual(all);
    }
  });

  it('returns the page after any id, even after an id that no plant has', async () => {
    for (const [i, after] of ids.entries()) {
      const page = await list({ after, limit: 1, tag: 'seven' });
      expect(idsOf(page)).toEqual(ids.slice(i + 1, i + 2));
    }
    expect(idsOf(await list({ after: 8n, limit: 1 }))).toEqual([1000n]);
    expect(idsOf(await list({ after: '-9007199254740993', limit: 1 }))).toEqual([-5n]);
    expect((await list({ limit: 2 })).next).toBe('-9007199254740993');
  });

  it('has no `next` on the last page', async () => {
    expect(await list({ tag: 'seven', limit: 7 })).not.toHaveProperty('next');
    expect(await list({ tag: 'of no plant' })).toEqual({ plants: [] });
  });

  it.each(['', '🌻', 'a&b=c d%20+', "'; --", '\u0001'])('finds the tag %j', async (tag) => {
    await call(server, 'createPlant', { id: 20n, name: 'x', tag });
    expect(await list({ tag })).toMatchObject({ plants: [{ id: 20n, tag }] });
    await call(server, 'deletePlant', { id: 20n });
  });

  it('finds the plants whose name contains each word of the search, ignoring case', async () => {
    const found = async (query: object) => idsOf(await list({ limit: 1000, ...query }));
    expect(await found({ search: 'PLANT -' })).toEqual(ids.slice(0, 3));
    for (const search of ["s 'teddy bEAR", ' bear\t helianthus\n', "r' ed us"])
      expect(await found({ search })).toEqual(sunflowers);
    expect(await found({ search: 'teddy rose' })).toEqual([]);
    expect(await found({ search: '0%_\\', after: 1098n })).toEqual([1099n, 1100n]);
    expect(await found({ search: 'plant', tag: 'of no plant' })).toEqual([]);
  });

  it.each([
    ...[0, -1, 1001, 1.5, 2n ** 53n].map((limit) => [{ limit }, 'limit']),
    ...[2n ** 63n, '9223372036854775808', '007', '+5', '1e3', '', 'x', 1.5, true].map((after) => [
      { after },
      'after',
    ]),
    [{ tag: '\0' }, 'tag'],
    ...['', 'x'.repeat(101), '\0'].map((search) => [{ search }, 'search']),
    [{ tag: 'seven', sort: 'name' }, '"sort"'],
    [{ Tag: 'seven' }, '"Tag"'],
  ] as [Record<string, unknown>, string][])(
    'rejects the input %o, and names %s',
    async (input, name) => {
      const outcome = await call(server, 'listPlants', input);
      expect(outcome).toMatchObject({ status: 400, error: 40001 });
      expect(outcome.message).toContain(name);
    },
  );

  it('ends a page early when its plants have more than 1 MiB of text', async () => {
    const big = Array.from({ length: 3 }, (_, i) => 5_000n + BigInt(i));
    for (const id of big)
      await call(server, 'createPlant', { id, name: 'x'.repeat(600_000), tag: 'big' });
    const first = await list({ tag: 'big' });
    expect(first.plants.length).toBeGreaterThan(0);
    expect(first.plants.length).toBeLessThan(3);
    const rest = await list({ tag: 'big', after: first.next, limit: 1 });
    expect(idsOf(rest)).toEqual([big[first.plants.length]]);
    for (const id of big) await call(server, 'deletePlant', { id });
  });
});

describe('GET /plants', () => {
  it.each([
    ['/plants?tag=a&tag=b', 'tag'],
    ['/plants?after=1&after=1', 'after'],
    ['/plants?limit=1&limit=2', 'limit'],
    ['/plants?x=1&x=2', 'x'],
    ['/plants?__proto__=1', '"__proto__"'],
    ['/plants?=', '""'],
    ['/plants?after=', 'after'],
    ['/plants?limit=', 'limit'],
    ['/plants?limit=1e2', 'limit'],
    [`/plants?limit=${'9'.repeat(400)}`, 'limit'],
  ])('rejects GET %s, and names %s', async (path, name) => {
    const response = await get(server, path);
    const { error, message } = Object(await response.json());
    expect([response.status, error]).toEqual([400, 40001]);
    expect(message).toContain(name);
  });

  it.each(['/plants?', '/plants', '/plants?limit=100'])('accepts GET %s', async (path) => {
    expect((await get(server, path)).status).toBe(200);
  });

  it('writes the digits of ids beyond 2^53', async () => {
    const text = await (await get(server, '/plants?limit=2')).text();
    expect(text).toContain('"id":-9223372036854775808,');
    expect(text).toContain('"id":-9007199254740993,');
  });
});

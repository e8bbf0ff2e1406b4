import { beforeAll, describe, expect, it } from 'vitest';
import { callers } from './fixtures/callers.ts';
import { shareServer } from './fixtures/running-server.ts';

const [minimum, maximum] = [-(2n ** 63n), 2n ** 63n - 1n];
const ids = [minimum, -9007199254740993n, -5n, 0n, 7n, 9007199254740993n, maximum];

describe.each(callers)('over $name', ({ name, call }) => {
  const server = shareServer();
  const startedAt = Date.now();

  const create = (plant: { id: bigint; name: string; tag?: string }) =>
    call(server, 'createPlant', plant);
  const get = (id: unknown) => call(server, 'getPlant', { id });
  const list = (query: Record<string, unknown> = {}) => call(server, 'listPlants', query);
  const remove = (id: unknown) => call(server, 'deletePlant', { id });

  beforeAll(async () => {
    for (const id of ids) await create({ id, name: `Plant ${id}`, tag: 'seven' });
    for (let id = 1000n; id < 1101n; id++) await create({ id, name: '🌻' });
  });

  describe('getting a plant', () => {
    it.each(ids)('returns the id, name, tag and time of the plant with the id %s', async (id) => {
      const { status, output } = await get(id);
      expect(status).toBe(200);
      const createdAt = expect.any(Date);
      expect(output).toStrictEqual({ id, name: `Plant ${id}`, tag: 'seven', createdAt });
      const time = (output as { createdAt: Date }).createdAt.getTime();
      expect(Math.abs(time - startedAt)).toBeLessThan(600_000);
    });

    it('in every response, the properties of a plant have the order id, name, tag, createdAt', async () => {
      const { output: page } = await list({ tag: 'seven', limit: 1 });
      const [listed] = (page as { plants: object[] }).plants;
      for (const plant of [listed, (await get(minimum)).output, await server.store.get(minimum)]) {
        expect(Object.keys(Object(plant))).toEqual(['id', 'name', 'tag', 'createdAt']);
      }
    });

    it('responds with 40401 to a get when there is no plant', async () => {
      const message = 'no plant has the id 9223372036854775806: check the id';
      expect(await get(maximum - 1n)).toMatchObject({ status: 404, error: 40401, message });
    });
  });

  describe('listing plants', () => {
    it('returns the first 100 plants in the order of their ids, and the next id', async () => {
      const { output } = await list();
      const sunflowers = Array.from({ length: 95 }, (_, i) => 1000n + BigInt(i));
      const page = output as { plants: { id: bigint }[]; next: bigint };
      expect(page.plants.map(({ id }) => id)).toEqual([...ids.slice(0, 5), ...sunflowers]);
      expect(page.next).toBe(1094n);
    });

    it('returns the page of plants after any id', async () => {
      for (const [i, after] of ids.entries()) {
        const { output } = await list({ after, limit: 1, tag: 'seven' });
        const next = ids[i + 1];
        expect(output).toMatchObject({ plants: next === undefined ? [] : [{ id: next }] });
      }
    });

    it.each(['', '🌻', 'a&b=c d%20+', "'; --", '\u0001'])('finds the tag %j', async (tag) => {
      await create({ id: 20n, name: 'x', tag });
      expect((await list({ tag })).output).toMatchObject({ plants: [{ id: 20n, tag }] });
      await remove(20n);
    });

    it.each(['PLANT -', 'a&b=c %20+_\\'])(
      'finds the plants whose name contains %j',
      async (search) => {
        await create({ id: -6n, name: '<A&B=C %20+_\\ plant ->', tag: 'odd' });
        const found = await list({ search, tag: 'odd' });
        expect(found.output).toMatchObject({ plants: [{ id: -6n }] });
        const { output } = await list({ search, limit: 1, after: -6n });
        const isOther = search === 'PLANT -';
        expect(output).toEqual({ plants: isOther ? [expect.objectContaining({ id: -5n })] : [] });
        await remove(-6n);
      },
    );
  });

  const searchLength = 'search must have 1 to 100 characters';

  it.each([
    ...[2n ** 63n, minimum - 1n, 1.5, true, null].map((id) => ['getPlant', { id }, 'id must be']),
    ...[0, -1, 1001, 1.5, 2n ** 53n].map((limit) => ['listPlants', { limit }, 'limit must be']),
    ['listPlants', { after: 2n ** 63n }, 'after must be'],
    ['listPlants', { tag: '\0' }, 'tag must not contain U+0000'],
    ['listPlants', { search: '' }, searchLength],
    ['listPlants', { search: 'x'.repeat(101) }, searchLength],
    ['listPlants', { search: '\0' }, 'search must not contain U+0000'],
    ['listPlants', { tag: 'seven', sort: 'name' }, 'it has no parameter "sort"'],
    ['listPlants', { Tag: 'seven' }, 'it has no parameter "Tag"'],
  ] as Invalid[])('%s rejects the input %o: %s', async (procedure, input, why) => {
    const outcome = await call(server, procedure, input);
    expect(outcome).toMatchObject({ status: 400, error: 40001 });
    expect(outcome.message).toContain(`invalid input: ${why}`);
  });

  describe('deleting a plant', () => {
    it('deletes the plant, and responds without a body', async () => {
      await create({ id: 1n, name: 'Hoya' });
      const { status, output } = await remove(1n);
      expect(output).toBeUndefined();
      expect(status).toBe(name === 'REST' ? 204 : 200);
      expect(await get(1n)).toMatchObject({ error: 40401 });
    });

    it('responds with 40401 to a delete when there is no plant', async () => {
      const message = 'no plant has the id 3: check the id';
      expect(await remove(3n)).toMatchObject({ status: 404, error: 40401, message });
    });
  });
});

type Invalid = ['getPlant' | 'listPlants', input: Record<string, unknown>, why: string];

describe('over REST', () => {
  const server = shareServer();

  beforeAll(async () => {
    await server.store.create({ id: -5n, name: 'Hoya' });
  });

  const send = async (method: string, path: string, body?: string) => {
    const headers = { authorization: `Bearer ${server.token}` };
    const response = await fetch(server.url + path, { method, headers, ...(body && { body }) });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text };
  };

  it.each(['007', '+5', '1e3', '0x10', '%205', '5%20', '5.0', '-0', 'five', '٥', '"5"', 'null'])(
    'rejects the id %s, which is not plain decimal',
    async (id) => {
      for (const method of ['GET', 'DELETE']) {
        const { status, text } = await send(method, `/plants/${id}`);
        const error = { error: 40001, message: 'invalid input: id must be a whole number' };
        expect([status, JSON.parse(text)]).toEqual([400, error]);
      }
    },
  );

  it.each([
    [`/plants/${'9'.repeat(1000)}`, 'id must be from -9223372036854775808 to 9223372036854775807'],
    ['/plants?tag=a&tag=b', 'tag is given more than once'],
    ['/plants?after=1&after=1', 'after is given more than once'],
    ['/plants?limit=1&limit=2', 'limit is given more than once'],
    ['/plants?x=1&x=2', 'x is given more than once'],
    ['/plants/-5?id=-5', 'id is given more than once'],
    ['/plants/-5?x=1', 'it has no parameter "x"'],
    ['/plants?__proto__=1', 'it has no parameter "__proto__"'],
    ['/plants?=', 'it has no parameter ""'],
    ['/plants?after=', 'after must be a whole number'],
    ['/plants?limit=', 'limit must be a whole number'],
    ['/plants?limit=1e2', 'limit must be a whole number'],
    ['/plants?limit=1001', 'limit must be an integer from 1 to 1000'],
    [`/plants?limit=${'9'.repeat(400)}`, 'limit must be an integer from 1 to 1000'],
    ['/plants?limit=9007199254740993', 'limit must be an integer from 1 to 1000'],
    ['/plants?tag=%ff', 'tag is not percent-encoded UTF-8'],
    ['/plants?tag=a%C3%A9&tag=100%', 'tag is not percent-encoded UTF-8'],
    ['/plants/-5?%zz=1', '%zz is not percent-encoded UTF-8'],
  ])('rejects GET %s with the error %s', async (path, message) => {
    const { status, text } = await send('GET', path);
    expect(JSON.parse(text)).toEqual({ error: 40001, message: `invalid input: ${message}` });
    expect(status).toBe(400);
  });

  it.each(['/plants?', '/plants', '/plants?limit=100'])(
    'responds to GET %s with a page of plants',
    async (path) => {
      const { status, headers, text } = await send('GET', path);
      expect(status).toBe(200);
      expect(headers.get('content-type')).toBe('application/json');
      expect(text).toMatch(
        /^\{"plants":\[\{"id":-5,"name":"Hoya","createdAt":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"\}\]\}$/,
      );
    },
  );

  it('responds to DELETE without a body, a content type or a length', async () => {
    await server.store.create({ id: 6n, name: 'Ficus' });
    const { status, headers, text } = await send('DELETE', '/plants/6');
    expect({ status, text }).toEqual({ status: 204, text: '' });
    expect(headers.has('content-type')).toBe(false);
    expect(headers.has('content-length')).toBe(false);
  });

  it('ignores the body of a DELETE', async () => {
    await server.store.create({ id: 6n, name: 'Ficus' });
    expect(await send('DELETE', '/plants/6', '{not JSON')).toMatchObject({ status: 204 });
  });
});

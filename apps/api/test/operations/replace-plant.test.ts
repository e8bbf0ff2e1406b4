import { describe, expect, it } from 'vitest';
import { itNeedsTheScope } from '../fixtures/access.ts';
import { surfaceCallers } from '../fixtures/callers.ts';
import { documentOf } from '../fixtures/document.ts';
import { shareServer } from '../fixtures/server.ts';
import { post } from '../fixtures/surfaces.ts';

const server = shareServer();

itNeedsTheScope('plants:update', server, 'replacePlant', async () => {
  await post(server, '/plants', '{"id":1,"name":"Hoya"}');
  return { id: 1, name: 'Hoya' };
});

describe.each(surfaceCallers)('replacePlant over $name', ({ name: surface, call }) => {
  const create = (id: bigint, name: string, tag?: string) =>
    call(server, 'createPlant', { id, name, ...(tag !== undefined && { tag }) });
  const replace = (input: Record<string, unknown>) => call(server, 'replacePlant', input);
  const get = (id: bigint) => call(server, 'getPlant', { id });
  const first = surface === 'REST' ? 100n : 200n;

  it.each([-(2n ** 63n), -9007199254740993n, 0n, 9007199254740993n, 2n ** 63n - 1n])(
    'replaces the name and the tag of the plant %s, and keeps its time of creation',
    async (id) => {
      await create(id, 'Hoya', 'old');
      const before = await get(id);
      const { createdAt } = Object(before.output);
      const { status, headers, output } = await replace({ id, name: '🌵\r\n"', tag: '' });
      const updatedAt = expect.any(Date);
      expect(output).toMatchObject({ id, name: '🌵\r\n"', tag: '', createdAt, updatedAt });
      expect([status, Object(output).updatedAt >= createdAt]).toEqual([200, true]);
      const after = await get(id);
      expect(after.output).toEqual(output);
      expect(after.headers.get('etag')).toBe(headers.get('etag'));
      expect([after.headers.get('etag'), after.output]).not.toEqual([
        before.headers.get('etag'),
        before.output,
      ]);
      await call(server, 'deletePlant', { id });
    },
  );

  it('removes the tag when the input has none, and can be repeated', async () => {
    await create(first, 'Hoya', 'old');
    for (const name of ['Pilea', 'Pilea']) {
      expect((await replace({ id: first, name })).output).not.toHaveProperty('tag');
    }
  });

  it('responds with 40401 when there is no plant, and creates none', async () => {
    const id = 2n ** 63n - 2n;
    const outcome = await replace({ id, name: 'Hoya' });
    expect(outcome).toMatchObject({ status: 404, error: 40401 });
    expect(outcome.message).toContain(String(id));
    expect((await get(id)).error).toBe(40401);
  });

  it('a create with the old content gets 40900 afterwards', async () => {
    await create(first + 1n, 'Hoya');
    await replace({ id: first + 1n, name: 'Pilea' });
    expect((await create(first + 1n, 'Hoya')).error).toBe(40900);
    expect((await create(first + 1n, 'Pilea')).status).toBe(200);
  });

  it.each([
    [{ id: 2n ** 63n, name: 'x' }, 'id'],
    [{ id: 1.5, name: 'x' }, 'id'],
    [{ id: 'five', name: 'x' }, 'id'],
    [{ id: 1 }, 'name'],
    [{ id: 1, name: null }, 'name'],
    [{ id: 1, name: '\0' }, 'name'],
    [{ id: 1, name: '\ud800' }, 'name'],
    [{ id: 1, name: 'x', tag: null }, 'tag'],
  ])('rejects the input %o, and names %s', async (input, name) => {
    const outcome = await replace(input);
    expect(outcome).toMatchObject({ status: 400, error: 40001 });
    expect(outcome.message).toMatch(new RegExp(`\\b${name} `));
  });
});

describe('PUT /plants/{id}', () => {
  const put = async (path: string, body: string | undefined, type = 'application/json') => {
    const response = await fetch(server.url + path, {
      method: 'PUT',
      headers: { authorization: `Bearer ${server.token}`, 'content-type': type },
      ...(body !== undefined && { body }),
    });
    const { status, headers } = response;
    const received = { status, headers, body: await response.text() };
    (await documentOf(server.url)).expectDescribed('PUT /plants/{id}', received);
    return { status, ...JSON.parse(received.body) };
  };

  it.each([
    ['/plants/1', '{', 'application/json', 40000],
    ['/plants/1', '', 'application/json', 40000],
    ['/plants/1', '[]', 'application/json', 40001],
    ['/plants/1', 'null', 'application/json', 40001],
    ['/plants/007', '{"name":"x"}', 'application/json', 40001],
    ['/plants/1?name=x', '{"name":"x"}', 'application/json', 40001],
    ['/plants/1', '{"name":"x"}', 'text/plain', 41500],
    ['/plants/1', `{"name":"${'x'.repeat(2 ** 20)}"}`, 'application/json', 41300],
  ])('rejects a wrong path, body or type (%#)', async (path, body, type, error) => {
    expect(await put(path, body, type)).toMatchObject({ status: Math.floor(error / 100), error });
  });

  it('takes the id from the path, and ignores unknown properties', async () => {
    await post(server, '/plants', '{"id":5,"name":"Hoya"}');
    const plant = await put('/plants/5', '{"id":6,"name":"a","name":"b","more":1}');
    expect(plant).toMatchObject({ status: 200, id: 5, name: 'b' });
    expect(plant).not.toHaveProperty('more');
  });
});

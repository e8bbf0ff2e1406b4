import { describe, expect, it } from 'vitest';
import { itNeedsTheScope } from '../fixtures/access.ts';
import { surfaceCallers } from '../fixtures/callers.ts';
import { documentOf } from '../fixtures/document.ts';
import { shareServer } from '../fixtures/server.ts';
import { get, post } from '../fixtures/surfaces.ts';

const server = shareServer();

itNeedsTheScope('plants:read', server, 'getPlant', async () => {
  await post(server, '/plants', '{"id":1,"name":"Hoya"}');
  return { id: 1 };
});

describe.each(surfaceCallers)('getPlant over $name', ({ name, call }) => {
  const getPlant = (id: unknown) => call(server, 'getPlant', { id });

  it.each([-(2n ** 63n), -9007199254740993n, -5n, 0n, 7n, 9007199254740993n, 2n ** 63n - 1n])(
    'returns the id, name, tag and time of the plant %s',
    async (id) => {
      const startedAt = Date.now();
      await call(server, 'createPlant', { id, name: `Plant ${id}`, tag: 'seven' });
      const { status, output } = await getPlant(id);
      expect(status).toBe(200);
      const createdAt = expect.any(Date);
      expect(output).toMatchObject({ id, name: `Plant ${id}`, tag: 'seven', createdAt });
      expect(output).not.toHaveProperty('updatedAt');
      expect(Math.abs(Object(output).createdAt - startedAt)).toBeLessThan(600_000);
    },
  );

  it('returns no tag for a plant without a tag', async () => {
    const id = name === 'REST' ? 11n : 12n;
    await call(server, 'createPlant', { id, name: 'Hoya' });
    expect((await getPlant(id)).output).not.toHaveProperty('tag');
  });

  it('returns another ETag after each replacement, and when the plant was replaced', async () => {
    const id = name === 'REST' ? 13n : 14n;
    await call(server, 'createPlant', { id, name: 'Hoya' });
    const etags = new Set();
    for (const name of ['Pilea', 'Pilea', 'Hoya']) {
      await call(server, 'replacePlant', { id, name });
      const { headers, output } = await getPlant(id);
      etags.add(headers.get('etag') ?? Object(output).etag);
      expect(output).toMatchObject({ id, name, updatedAt: expect.any(Date) });
    }
    expect([etags.size, etags.has(undefined)]).toEqual([3, false]);
  });

  it('responds with 40401 when there is no plant', async () => {
    const outcome = await getPlant(2n ** 63n - 2n);
    expect(outcome).toMatchObject({ status: 404, error: 40401 });
    expect(outcome.message).toContain('9223372036854775806');
  });

  it.each([2n ** 63n, -(2n ** 63n) - 1n, 1.5, true, null, 'five'])(
    'rejects the id %s',
    async (id) => {
      const outcome = await getPlant(id);
      expect(outcome).toMatchObject({ status: 400, error: 40001 });
      expect(outcome.message).toMatch(/\bid must be/);
    },
  );
});

describe('GET /plants/{id}', () => {
  it.each(['007', '+5', '1e3', '0x10', '%205', '5%20', '5.0', '-0', 'five', '٥', '"5"', 'null'])(
    'rejects the id %s, which is not plain decimal',
    async (id) => {
      for (const method of ['GET', 'DELETE']) {
        const headers = { authorization: `Bearer ${server.token}` };
        const response = await fetch(`${server.url}/plants/${id}`, { method, headers });
        expect([response.status, Object(await response.json()).error]).toEqual([400, 40001]);
      }
    },
  );

  it.each([
    [`/plants/${'9'.repeat(1000)}`, 'id'],
    ['/plants/-5?id=-5', 'id'],
    ['/plants/-5?x=1', '"x"'],
  ])('rejects GET %s, and names %s', async (path, name) => {
    const response = await get(server, path);
    const { error, message } = Object(await response.json());
    expect([response.status, error]).toEqual([400, 40001]);
    expect(message).toContain(name);
  });

  it('responds with 304 to If-None-Match when the plant still has the ETag', async () => {
    await post(server, '/plants', '{"id":15,"name":"Hoya"}');
    const current = await get(server, '/plants/15');
    const etag = current.headers.get('etag') ?? '';
    expect([etag, await current.text()]).toEqual([
      expect.stringMatching(/^"\d+"$/),
      expect.not.stringContaining('etag'),
    ]);
    const { expectDescribed } = await documentOf(server.url);
    for (const [known, status] of [
      [etag, 304],
      [`W/${etag}`, 304],
      [`"1", ${etag}`, 304],
      ['*', 304],
      ['"1"', 200],
      [`"1${etag.slice(1)}`, 200],
    ] as const) {
      const response = await get(server, '/plants/15', { 'if-none-match': known });
      const { headers } = response;
      const body = await response.text();
      expect([known, response.status, headers.get('etag')]).toEqual([known, status, etag]);
      expectDescribed('GET /plants/{id}', { status: response.status, headers, body });
    }
    expect((await get(server, '/plants/16', { 'if-none-match': '*' })).status).toBe(404);
  });

  it('writes all digits of an id, and the time in UTC', async () => {
    const text = await (await get(server, '/plants/9007199254740993')).text();
    expect(text).toMatch(/"id":9007199254740993,/);
    expect(text).toMatch(/"createdAt":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/);
  });
});

import { expect, it } from 'vitest';
import { shareServer } from '../fixtures/server.ts';
import { get, post, request, surfaces } from '../fixtures/surfaces.ts';

// `any-calls.test.ts` tests the procedures by random calls. These tests add details of the surfaces.

const server = shareServer();
let lastId = 10_000n;
const freeId = () => ++lastId;

it.each(surfaces)(
  'replacePlant over $name keeps the time of creation, and gives a new ETag even to the same content',
  async ({ call }) => {
    const id = freeId();
    await call(server, 'createPlant', { id, name: 'Hoya', tag: 'old' });
    const before = await call(server, 'getPlant', { id });
    const replacement = { id, name: '🌵\r\n"' };
    const { headers, output } = await call(server, 'replacePlant', replacement);
    const { createdAt, updatedAt } = Object(output);
    expect(createdAt).toEqual(Object(before.output).createdAt);
    expect(+updatedAt).toBeGreaterThanOrEqual(+createdAt);
    const after = await call(server, 'getPlant', { id });
    expect(after.output).toEqual(output);
    expect(after.headers.get('etag')).toBe(headers.get('etag'));
    const again = await call(server, 'replacePlant', replacement);
    const etags = [headers.get('etag'), Object(output).etag];
    expect([again.headers.get('etag'), Object(again.output).etag]).not.toEqual(etags);
  },
);

it.each(surfaces)(
  'a page over $name has the time of a replacement only for the plants that were replaced',
  async ({ call }) => {
    const ids = Array.from({ length: 6 }, freeId);
    const tag = `page ${ids[0]}`;
    for (const id of ids) await call(server, 'createPlant', { id, name: 'Hoya', tag });
    const replaced = [ids[0], ids[3]];
    for (const id of replaced) await call(server, 'replacePlant', { id, name: 'Hoya', tag });
    const created = { name: 'Hoya', tag, createdAt: expect.any(Date) };
    const times = (id: bigint) => replaced.includes(id) && { updatedAt: expect.any(Date) };
    const plants = ids.map((id) => ({ id, ...created, ...times(id) }));
    const page = async (start: number, limit: number) => {
      const after = ids[0] && ids[0] + BigInt(start) - 1n;
      return Object((await call(server, 'listPlants', { tag, after, limit })).output).plants;
    };
    for (const start of [0, 2, 3]) {
      expect(await page(start, 2)).toEqual(plants.slice(start, start + 2));
    }
    expect(await page(3, 3)).toEqual(plants.slice(3));
    expect(await page(5, 2)).toEqual(plants.slice(5));
    expect(await page(4, 2)).toEqual(plants.slice(4));
    expect(await page(0, 100)).toEqual(plants);
  },
);

it('GET writes all digits of ids, and times in UTC', async () => {
  const id = '-9223372036854775808';
  await post(server, '/plants', `{"id":${id},"name":"Hoya"}`);
  for (const path of [`/plants/${id}`, '/plants?limit=1']) {
    const text = await (await get(server, path)).text();
    expect(text).toMatch(/"id":-9223372036854775808,/);
    expect(text).toMatch(/"createdAt":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/);
  }
});

it('PUT takes the id from the path, and ignores unknown properties of the body', async () => {
  const id = freeId();
  await post(server, '/plants', `{"id":${id},"name":"Hoya"}`);
  const body = '{"id":6,"name":"a","name":"b","ifMatch":"1"}';
  const response = await request(server, 'PUT', `/plants/${id}`, body);
  const plant = Object(await response.json());
  expect([response.status, plant]).toMatchObject([200, { id: Number(id), name: 'b' }]);
  expect(plant).not.toHaveProperty('ifMatch');
});

it('DELETE responds without a content type or a length, and ignores a body', async () => {
  const id = freeId();
  await post(server, '/plants', `{"id":${id},"name":"Hoya"}`);
  const { status, headers } = await fetch(`${server.url}/plants/${id}`, {
    ...{ method: 'DELETE', body: '{not JSON' },
    headers: { authorization: `Bearer ${server.token}` },
  });
  const lengthAndType = [headers.get('content-type'), headers.get('content-length')];
  expect([status, ...lengthAndType]).toEqual([204, null, null]);
});

it('POST /plants/batch accepts a body of almost 1 MiB with a thousand plants', async () => {
  const name = '🌻'.repeat(255);
  const plants = Array.from({ length: 1_000 }, () => `{"id":${freeId()},"name":"${name}"}`);
  const response = await post(server, '/plants/batch', `{"plants":[${plants}]}`);
  expect((await response.text()).match(/"created"/g)).toHaveLength(1_000);
});

import { describe, expect, it } from 'vitest';
import { shareServer } from './fixtures/running-server.ts';
import { post, surfaces } from './fixtures/surfaces.ts';

describe.each(surfaces)('the call that creates a plant over $name', (surface) => {
  const server = shareServer();
  let lastId = 1000;
  const freeId = () => ++lastId;
  const send = (json: string) => surface.send(server, json);

  it('responds with the name and the tag of the plant, and nothing else', async () => {
    const plant = { name: 'Monstera deliciosa', tag: 'Araceae' };
    const { status, headers, body } = await send(JSON.stringify({ id: freeId(), ...plant }));
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(body).toStrictEqual(plant);
  });

  it('responds without a tag when the plant has no tag', async () => {
    const { body } = await send(`{"id":${freeId()},"name":"Ficus"}`);
    expect(body).toStrictEqual({ name: 'Ficus' });
  });

  it('accepts unknown properties', async () => {
    const unknown = '"__proto__":{"tag":"x"},"constructor":1,"createdAt":null,"a":[{}]';
    const { status, body } = await send(`{"id":${freeId()},"name":"x",${unknown}}`);
    expect({ status, body }).toStrictEqual({ status: 200, body: { name: 'x' } });
  });

  // tRPC rejects unknown parameters, so only REST has this test.
  const ofRest = surface.name === 'REST' ? it : () => {};
  ofRest('accepts any query', async () => {
    const response = await post(server, '/plants?x=1&x=%ff', `{"id":${freeId()},"name":"x"}`);
    expect(response.status).toBe(200);
  });

  it('stores the last value of a key that the body has twice', async () => {
    const id = freeId();
    await send(`{"id":"x","name":1,"id":${id},"name":"first","name":"last"}`);
    expect((await send(`{"id":${id},"name":"last"}`)).status).toBe(200);
    expect((await send(`{"id":${id},"name":"first"}`)).status).toBe(409);
  });

  it('responds with 200 when a plant is sent again, even if the id is written in another way', async () => {
    const id = freeId();
    for (const spelling of [`${id}`, `${id}.0`, `${id}e0`, `${id}000e-3`]) {
      const { status, body } = await send(`{"id":${spelling},"name":"x","tag":"t"}`);
      expect({ status, body }).toEqual({ status: 200, body: { name: 'x', tag: 't' } });
    }
  });

  it.each(['{"name":"y","tag":"t"}', '{"name":"x"}', '{"name":"x","tag":""}'])(
    'responds with 409 to %s when the id belongs to a different plant',
    async (other) => {
      const id = freeId();
      await send(`{"id":${id},"name":"x","tag":"t"}`);
      const conflict = await send(other.replace('{', `{"id":${id},`));
      const message = `id ${id} belongs to another plant: choose an id that is free`;
      expect(conflict).toMatchObject({ status: 409, body: { error: 40900, message } });
      expect((await send(`{"id":${id},"name":"x","tag":"t"}`)).status).toBe(200);
    },
  );

  const anyId = 'id must be an integer from -9223372036854775808 to 9223372036854775807';
  const invalidText = 'must not contain U+0000 or a lone surrogate';

  it.each([
    ...[
      ...['"five"', 'true', 'null', '[]', '{}', '1.5', '1e-1', '1e400'],
      ...['9223372036854775808', '-9223372036854775809'],
      ...['9007199254740991.5', '1.0000000000000000000001'], // A double would round these fractions.
    ].map((id) => [`{"id":${id},"name":"x"}`, anyId]),
    ['{"id":"5","name":"x"}', `${anyId}: send it without quotes`],
    ...['null', '5', 'true', '[]', '{}'].map((value) => [
      `{"id":1,"name":${value},"tag":${value}}`,
      'name must be a string; tag must be a string',
    ]),
    ...['\\u0000', 'a\\u0000b', '\\ud800', '\\udc00\\ud800'].map((text) => [
      `{"id":1,"name":"${text}","tag":"${text}"}`,
      `name ${invalidText}; tag ${invalidText}`,
    ]),
    ...['null', '[]', '"text"', '5', 'true'].map((json) => [json, 'it must be an object']),
    ['{}', 'id is missing: it must be an integer; name is missing: it must be a string'],
  ] as [json: string, why: string][])('rejects %s, because %s', async (json, why) => {
    const { status, body } = await send(json);
    expect(status).toBe(400);
    expect(body).toEqual({ error: 40001, message: `invalid input: ${why}` });
  });

  it('rejects an unknown property that is nested more than 500 levels deep', async () => {
    const nested = (id: string, depth: number) =>
      send(`{"id":${id},"name":"x","a":${'['.repeat(depth)}${']'.repeat(depth)}}`);
    for (const spelling of [`${freeId()}`, `${freeId()}e0`]) {
      expect(await nested(spelling, 499)).toMatchObject({ status: 200 });
      for (const depth of [500, 5_000, 100_000]) {
        const rejected = { status: 400, body: { error: 40000 } };
        expect(await nested(spelling, depth)).toMatchObject(rejected);
      }
    }
  });

  it('accepts a body of 1 MiB, and rejects a larger body', async () => {
    const envelope = surface.name === 'tRPC' ? '{"json":}'.length : 0;
    const ofSize = (size: number) => {
      const json = `{"id":${freeId()},"name":"`;
      return `${json}${'a'.repeat(size - envelope - json.length - 2)}"}`;
    };
    expect(await send(ofSize(1024 * 1024))).toMatchObject({ status: 200 });
    const rejected = { status: 413, body: { error: 41300 } };
    expect(await send(ofSize(1024 * 1024 + 1))).toMatchObject(rejected);
  });
});

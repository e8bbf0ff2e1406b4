import { describe, expect, it } from 'vitest';
import { shareServer } from './fixtures/running-server.ts';
import { post, surfaces } from './fixtures/surfaces.ts';

describe.each(surfaces)('the call that creates a plant over $name', (surface) => {
  const server = shareServer();
  let lastId = 1000;
  const freeId = () => ++lastId;
  const send = (json: string) => surface.send(server, json);

  it('responds with the name and the tag of the plant, and nothing else', async () => {
    const { status, headers, body } = await send(
      `{"id":${freeId()},"name":"Monstera deliciosa","tag":"Araceae"}`,
    );
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json');
    expect(body).toStrictEqual({ name: 'Monstera deliciosa', tag: 'Araceae' });
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
      expect(conflict).toMatchObject({
        status: 409,
        body: {
          error: 40900,
          message: `id ${id} belongs to another plant: choose an id that is free`,
        },
      });
      expect((await send(`{"id":${id},"name":"x","tag":"t"}`)).status).toBe(200);
    },
  );

  it.each([
    ['"five"', 'a string'],
    ['true', 'a boolean'],
    ['null', 'null'],
    ['[]', 'an array'],
    ['{}', 'an object'],
    ['1.5', 'a fraction'],
    ['1e-1', 'a fraction'],
    ['9007199254740991.5', 'a fraction that a double would round'],
    ['1.0000000000000000000001', 'a fraction that a double would round'],
    ['9223372036854775808', 'above int64'],
    ['-9223372036854775809', 'below int64'],
    ['1e400', 'larger than every double'],
  ])('rejects the id %s, which is %s', async (id) => {
    const { status, body } = await send(`{"id":${id},"name":"x"}`);
    expect({ status, body }).toEqual({
      status: 400,
      body: {
        error: 40001,
        message:
          'invalid input: id must be an integer from -9223372036854775808 to 9223372036854775807',
      },
    });
  });

  it('rejects an id in quotes, and advises to send the id without quotes', async () => {
    const { status, body } = await send('{"id":"5","name":"x"}');
    expect({ status, body }).toMatchObject({
      status: 400,
      body: {
        error: 40001,
        message: expect.stringMatching(/^invalid input: id .*: send it without quotes$/),
      },
    });
  });

  it.each(['null', '5', 'true', '[]', '{}'])(
    'rejects %s as the name and as the tag',
    async (value) => {
      const { status, body } = await send(`{"id":${freeId()},"name":${value},"tag":${value}}`);
      expect({ status, body }).toEqual({
        status: 400,
        body: {
          error: 40001,
          message: 'invalid input: name must be a string; tag must be a string',
        },
      });
    },
  );

  it.each(['null', '[]', '"text"', '5', 'true'])('rejects %s in place of a plant', async (body) => {
    expect(await send(body)).toMatchObject({
      status: 400,
      body: { error: 40001, message: 'invalid input: it must be an object' },
    });
  });

  it('names every missing field in the error', async () => {
    expect((await send('{}')).body).toEqual({
      error: 40001,
      message:
        'invalid input: id is missing: it must be an integer; name is missing: it must be a string',
    });
  });

  it.each(['\\u0000', 'a\\u0000b', '\\ud800', '\\udc00\\ud800'])(
    'rejects the text %s, which Postgres cannot store',
    async (text) => {
      const { status, body } = await send(`{"id":${freeId()},"name":"${text}","tag":"${text}"}`);
      expect({ status, body }).toEqual({
        status: 400,
        body: {
          error: 40001,
          message:
            'invalid input: name must not contain U+0000 or a lone surrogate; ' +
            'tag must not contain U+0000 or a lone surrogate',
        },
      });
    },
  );

  it('rejects an unknown property that is nested more than 500 levels deep', async () => {
    const nested = (id: string, depth: number) =>
      send(`{"id":${id},"name":"x","a":${'['.repeat(depth)}${']'.repeat(depth)}}`);
    for (const spelling of [`${freeId()}`, `${freeId()}e0`]) {
      expect(await nested(spelling, 499)).toMatchObject({ status: 200 });
      for (const depth of [500, 5_000, 100_000]) {
        expect(await nested(spelling, depth)).toMatchObject({
          status: 400,
          body: { error: 40000 },
        });
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
    expect(await send(ofSize(1024 * 1024 + 1))).toMatchObject({
      status: 413,
      body: { error: 41300 },
    });
  });
});

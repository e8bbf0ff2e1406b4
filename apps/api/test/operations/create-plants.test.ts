import { describe, expect, it } from 'vitest';
import { shareServer } from '../fixtures/server.ts';
import { post, rest, surfaces } from '../fixtures/surfaces.ts';

const server = shareServer();
let lastId = 1000n;
const freeId = () => ++lastId;
const storedAs = async (id: bigint) => (await rest.call(server, 'getPlant', { id })).output;

describe.each(surfaces)('createPlant over $name', ({ call }) => {
  const create = (plant: Record<string, unknown>) => call(server, 'createPlant', plant);

  it('responds with the name and the tag of the plant, and nothing else', async () => {
    const plant = { name: 'Monstera deliciosa', tag: 'Araceae' };
    const { status, output } = await create({ id: freeId(), ...plant });
    expect({ status, output }).toStrictEqual({ status: 200, output: plant });
    const untagged = await create({ id: freeId(), name: 'Ficus' });
    expect(untagged.output).toStrictEqual({ name: 'Ficus' });
  });

  it.each(['', ' ', '🪴', '\u0001\u007f\ufeff', 'NULL', `"\\'; drop table plants --`])(
    'stores any text that Postgres can hold, byte for byte (%j)',
    async (text) => {
      const id = freeId();
      expect((await create({ id, name: text, tag: text })).output).toEqual({
        name: text,
        tag: text,
      });
      expect(await storedAs(id)).toMatchObject({ id, name: text, tag: text });
    },
  );

  it('stores the smallest and the largest int64 exactly', async () => {
    for (const id of [-(2n ** 63n), -9007199254740993n, 9007199254740993n, 2n ** 63n - 1n]) {
      expect((await create({ id, name: 'far' })).status).toBe(200);
      expect(await storedAs(id)).toMatchObject({ id, name: 'far' });
    }
  });

  it('responds with 200 to the same plant again, and with 40900 to another plant', async () => {
    const id = freeId();
    const plant = { name: 'x', tag: 't' };
    for (const _ of [1, 2]) {
      expect(await create({ id, ...plant })).toMatchObject({ status: 200, output: plant });
    }
    for (const other of [{ name: 'y', tag: 't' }, { name: 'x' }, { name: 'x', tag: '' }]) {
      const conflict = await create({ id, ...other });
      expect(conflict).toMatchObject({ status: 409, error: 40900 });
      expect(conflict.message).toContain(String(id));
    }
    expect(await storedAs(id)).toMatchObject({ id, ...plant });
  });
});

describe.each(surfaces)('the JSON of createPlant over $name', (surface) => {
  const send = (json: string) => surface.send(server, json);

  it.each(['5', '5.0', '50e-1', '0.05E+2', '5e0', '5.000', '-0', '0e-9'])(
    'accepts the spelling %s of an integer',
    async (spelling) => {
      const { status } = await send(`{"id":${spelling},"name":"spelled over ${surface.name}"}`);
      expect([200, 409]).toContain(status);
    },
  );

  it('treats all spellings of an id as the same id', async () => {
    const id = freeId();
    for (const spelling of [`${id}`, `${id}.0`, `${id}e0`, `${id}000e-3`]) {
      expect((await send(`{"id":${spelling},"name":"x"}`)).status).toBe(200);
    }
    expect((await send(`{"id":${id}.00,"name":"y"}`)).status).toBe(409);
  });

  it.each([
    ...['"five"', '"5"', 'true', 'null', '[]', '{}', '1.5', '1e-1', '1e400'],
    ...['9223372036854775808', '-9223372036854775809', '1e19'],
    ...['9007199254740991.5', '1.0000000000000000000001'], // A double would round these fractions.
  ])('rejects the id %s', async (id) => {
    const { error, message } = await send(`{"id":${id},"name":"x"}`);
    expect([error, message]).toEqual([40001, expect.stringMatching(/\bid\b.*integer/)]);
  });

  it.each([
    ...['null', '5', 'true', '[]', '{}', '"\\u0000"', '"a\\u0000b"', '"\\ud800"'],
    '"\\udc00\\ud800"',
  ])('rejects the name and the tag %s, and names both fields', async (value) => {
    const { error, message } = await send(`{"id":1,"name":${value},"tag":${value}}`);
    expect([error, message]).toEqual([40001, expect.stringMatching(/\bname\b.*\btag\b/)]);
  });

  it.each(['{}', '{"tag":"x"}', 'null', '[]', '"text"', '5', 'true'])(
    'rejects %s, which is not a plant',
    async (json) => expect(await send(json)).toMatchObject({ status: 400, error: 40001 }),
  );

  it('ignores unknown properties, and uses the last value of a repeated key', async () => {
    const unknown = '"__proto__":{"tag":"x"},"constructor":1,"createdAt":null,"a":[{}]';
    const id = freeId();
    const { output } = await send(
      `{"id":"x","name":1,"id":${id},"name":"first","name":"last",${unknown}}`,
    );
    expect(output).toStrictEqual({ name: 'last' });
    expect(await storedAs(id)).toMatchObject({ id, name: 'last' });
  });

  it('rejects JSON that is nested more than 500 levels deep', async () => {
    const nested = (id: string, depth: number) =>
      send(`{"id":${id},"name":"x","a":${'['.repeat(depth)}${']'.repeat(depth)}}`);
    for (const spelling of [`${freeId()}`, `${freeId()}e0`]) {
      expect(await nested(spelling, 490)).toMatchObject({ status: 200 });
      for (const depth of [501, 100_000]) {
        expect(await nested(spelling, depth)).toMatchObject({ status: 400, error: 40000 });
      }
    }
  });

  it('accepts a body of 1 MiB, and rejects a larger body with 41300', async () => {
    const envelope = surface.name === 'tRPC' ? '{"json":}'.length : 0;
    const ofSize = (size: number) => {
      const json = `{"id":${freeId()},"name":"`;
      return `${json}${'a'.repeat(size - envelope - json.length - 2)}"}`;
    };
    expect(await send(ofSize(2 ** 20))).toMatchObject({ status: 200 });
    expect(await send(ofSize(2 ** 20 + 1))).toMatchObject({ status: 413, error: 41300 });
  });
});

describe.each(surfaces)('createPlants over $name', ({ call }) => {
  const createPlants = (plants: unknown) => call(server, 'createPlants', { plants });
  const created = (id: bigint) => ({ id, result: 'created' });
  const taken = (id: bigint) => expect.objectContaining({ id, error: 40900, result: 'error' });

  it('returns a result for each plant, in the order of the input', async () => {
    const plants = [
      { id: 2n ** 63n - freeId(), name: '🌻', tag: '' },
      { id: freeId(), name: 'a "quoted" \\ name', tag: 'NULL' },
      { id: -(2n ** 63n) + freeId(), name: 'NULL' },
    ];
    const { status, output } = await createPlants(plants);
    expect(status).toBe(200);
    expect(output).toStrictEqual({ results: plants.map(({ id }) => created(id)) });
    for (const plant of plants) expect(await storedAs(plant.id)).toMatchObject(plant);
  });

  it('tells which plants exist already, and which ids belong to other plants', async () => {
    const [a, b, c] = [freeId(), freeId(), freeId()];
    await createPlants([{ id: a, name: 'Hoya', tag: 'Apocynaceae' }]);
    const { output } = await createPlants([
      { id: b, name: 'Pilea' },
      { id: a, name: 'Hoya', tag: 'Apocynaceae' },
      { id: c, name: 'first of the list' },
      { id: c, name: 'second of the list' },
      { id: a, name: 'Hoya' },
    ]);
    const exists = { id: a, result: 'exists' };
    expect(output).toEqual({ results: [created(b), exists, created(c), taken(c), taken(a)] });
    expect(await storedAs(c)).toMatchObject({ name: 'first of the list' });
  });
});

it('POST /plants/batch accepts a body of 1 MiB with a thousand plants', async () => {
  const name = '🌻'.repeat(255);
  const plants = Array.from({ length: 1_000 }, () => `{"id":${freeId()},"name":"${name}"}`);
  const response = await post(server, '/plants/batch', `{"plants":[${plants}]}`);
  expect(response.status).toBe(200);
  expect((await response.text()).match(/"created"/g)).toHaveLength(1_000);
});

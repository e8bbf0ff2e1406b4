import { runSql } from '@plant-store/test-setup';
import { describe, expect, it } from 'vitest';
import { itNeedsTheScope } from '../fixtures/access.ts';
import { callers, surfaceCallers } from '../fixtures/callers.ts';
import { shareServer, startForTest, storedPlants } from '../fixtures/server.ts';
import { post, surfaces } from '../fixtures/surfaces.ts';

const server = shareServer();
const [rest] = callers;
let lastId = 1000;
const freeId = () => ++lastId;
const storedAs = async (id: bigint | number) =>
  (await rest.call(server, 'getPlant', { id })).output;

itNeedsTheScope('plants:create', server, 'createPlant', () => ({ id: freeId(), name: 'Hoya' }));

describe.each(surfaceCallers)('createPlant over $name', ({ call }) => {
  const create = (plant: Record<string, unknown>) => call(server, 'createPlant', plant);

  it('responds with the name and the tag of the plant, and nothing else', async () => {
    const plant = { name: 'Monstera deliciosa', tag: 'Araceae' };
    const { status, output } = await create({ id: freeId(), ...plant });
    expect({ status, output }).toStrictEqual({ status: 200, output: plant });
    const untagged = await create({ id: freeId(), name: 'Ficus' });
    expect(untagged.output).toStrictEqual({ name: 'Ficus' });
  });

  it.each([
    '',
    ' ',
    '🪴',
    '\u0001\u007f\ufeff',
    'NULL',
    `"\\'; drop table plants --`,
    'a'.repeat(9_999),
  ])('stores any text that Postgres can hold, byte for byte (%#)', async (text) => {
    const id = BigInt(freeId());
    expect((await create({ id, name: text, tag: text })).output).toEqual({ name: text, tag: text });
    expect(await storedAs(id)).toMatchObject({ id, name: text, tag: text });
  });

  it('stores the smallest and the largest int64 exactly', async () => {
    for (const id of [-(2n ** 63n), -9007199254740993n, 9007199254740993n, 2n ** 63n - 1n]) {
      expect((await create({ id, name: 'far' })).status).toBe(200);
      expect(await storedAs(id)).toMatchObject({ id, name: 'far' });
    }
  });

  it('responds with 200 when the same plant is sent again', async () => {
    const plant = { id: freeId(), name: 'x', tag: 't' };
    for (const _ of [1, 2]) {
      expect(await create(plant)).toMatchObject({ status: 200, output: { name: 'x', tag: 't' } });
    }
  });

  it.each([{ name: 'y', tag: 't' }, { name: 'x' }, { name: 'x', tag: '' }])(
    'responds with 40900 to %j when the id belongs to another plant, which stays as it is',
    async (other) => {
      const id = BigInt(freeId());
      await create({ id, name: 'x', tag: 't' });
      const conflict = await create({ id, ...other });
      expect(conflict).toMatchObject({ status: 409, error: 40900 });
      expect(conflict.message).toContain(String(id));
      expect(await storedAs(id)).toMatchObject({ id, name: 'x', tag: 't' });
    },
  );

  it('gives an id to exactly one of twenty clients that send different plants', async () => {
    const id = BigInt(freeId());
    const names = Array.from({ length: 20 }, (_, i) => `client ${i}`);
    const outcomes = await Promise.all(names.map((name) => create({ id, name })));
    const winners = names.filter((_, i) => outcomes[i]?.status === 200);
    expect(winners).toHaveLength(1);
    expect(outcomes.filter(({ error }) => error === 40900)).toHaveLength(19);
    expect(await storedAs(id)).toMatchObject({ name: winners[0] });
  });

  it('never responds with an error of the server when a create meets a delete of its id', async () => {
    const id = freeId();
    const rounds = Array.from({ length: 60 }, (_, i) => [
      create({ id, name: `plant ${i % 2}` }),
      call(server, 'deletePlant', { id }),
    ]);
    for (const { status } of await Promise.all(rounds.flat())) {
      expect([200, 204, 404, 409]).toContain(status);
    }
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
    const { status, body } = await send(`{"id":${id},"name":"x"}`);
    expect([status, Object(body).error]).toEqual([400, 40001]);
    expect(Object(body).message).toMatch(/\bid\b.*integer/);
  });

  it.each([
    ...[
      'null',
      '5',
      'true',
      '[]',
      '{}',
      '"\\u0000"',
      '"a\\u0000b"',
      '"\\ud800"',
      '"\\udc00\\ud800"',
    ],
  ])('rejects the name and the tag %s, and names both fields', async (value) => {
    const { status, body } = await send(`{"id":1,"name":${value},"tag":${value}}`);
    expect([status, Object(body).error]).toEqual([400, 40001]);
    expect(Object(body).message).toMatch(/\bname\b.*\btag\b/);
  });

  it.each(['{}', '{"tag":"x"}', 'null', '[]', '"text"', '5', 'true'])(
    'rejects %s, which is no plant',
    async (json) => {
      expect(await send(json)).toMatchObject({ status: 400, body: { error: 40001 } });
    },
  );

  it('ignores unknown properties, and uses the last value of a repeated key', async () => {
    const unknown = '"__proto__":{"tag":"x"},"constructor":1,"createdAt":null,"a":[{}]';
    const id = freeId();
    const { body } = await send(
      `{"id":"x","name":1,"id":${id},"name":"first","name":"last",${unknown}}`,
    );
    expect(body).toStrictEqual({ name: 'last' });
    expect(await storedAs(id)).toMatchObject({ id: BigInt(id), name: 'last' });
  });

  it('rejects JSON that is nested more than 500 levels deep', async () => {
    const nested = (id: string, depth: number) =>
      send(`{"id":${id},"name":"x","a":${'['.repeat(depth)}${']'.repeat(depth)}}`);
    for (const spelling of [`${freeId()}`, `${freeId()}e0`]) {
      expect(await nested(spelling, 490)).toMatchObject({ status: 200 });
      for (const depth of [501, 100_000]) {
        expect(await nested(spelling, depth)).toMatchObject({
          status: 400,
          body: { error: 40000 },
        });
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
    expect(await send(ofSize(2 ** 20 + 1))).toMatchObject({ status: 413, body: { error: 41300 } });
  });
});

it('rejects a parameter in the query of POST /plants over REST, and names it', async () => {
  const response = await post(server, '/plants?x=1&x=%ff', `{"id":${freeId()},"name":"x"}`);
  const { error, message } = Object(await response.json());
  expect([response.status, error]).toEqual([400, 40001]);
  expect(message).toContain('"x"');
});

it('responds with 50001 when the table rejects a plant, and creates the other plants', async () => {
  const own = await startForTest();
  await runSql(own.databaseUrl, "alter table plants add constraint no_x check (name <> 'x')");
  for (const { call } of surfaceCallers) {
    const [rejected, created] = await Promise.all([
      call(own, 'createPlant', { id: 1, name: 'x' }),
      call(own, 'createPlant', { id: 2, name: 'y' }),
    ]);
    expect([rejected.error, created.status]).toEqual([50001, 200]);
  }
  expect(await storedPlants(own)).toEqual([{ id: 2n, name: 'y', tag: null }]);
});

it('responds with 50001 when a trigger keeps a plant out of the table', async () => {
  const own = await startForTest();
  await runSql(
    own.databaseUrl,
    `create function swallow() returns trigger language plpgsql as 'begin return null; end';
    create trigger swallow before insert on plants for each row execute function swallow()`,
  );
  for (const { call } of surfaceCallers) {
    expect((await call(own, 'createPlant', { id: 1, name: 'x' })).error).toBe(50001);
  }
});

import { createCaller } from '@plant-store/core/router';
import { scopes } from '@plant-store/schemas';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DatabaseName, type RunningServer, startServer } from './fixtures/running-server.ts';
import { surfaces } from './fixtures/surfaces.ts';

const databases: DatabaseName[] = ['PGlite', 'Postgres'];
const cases = databases.flatMap((database) => surfaces.map((surface) => ({ database, surface })));

describe.each(cases)(
  'creating a plant over $surface.name on $database',
  ({ database, surface }) => {
    let server: RunningServer;
    let lastId = 1000;
    const freeId = () => ++lastId;
    const send = (json: string) => surface.send(server, json);

    beforeAll(async () => {
      server = await startServer(database);
    });

    afterAll(() => server.stop());

    it('answers 200 with name and tag, and nothing else', async () => {
      const { status, headers, body } = await send(
        `{"id":${freeId()},"name":"Monstera deliciosa","tag":"Araceae"}`,
      );
      expect(status).toBe(200);
      expect(headers.get('content-type')).toBe('application/json');
      expect(body).toStrictEqual({ name: 'Monstera deliciosa', tag: 'Araceae' });
    });

    it('answers without a tag where none was given', async () => {
      const { body } = await send(`{"id":${freeId()},"name":"Ficus"}`);
      expect(body).toStrictEqual({ name: 'Ficus' });
    });

    it('ignores properties that it does not know', async () => {
      const unknown = '"__proto__":{"tag":"x"},"constructor":1,"createdAt":null,"a":[{}]';
      const { status, body } = await send(`{"id":${freeId()},"name":"x",${unknown}}`);
      expect({ status, body }).toStrictEqual({ status: 200, body: { name: 'x' } });
    });

    it('takes the last of duplicate keys', async () => {
      const id = freeId();
      await send(`{"id":"x","name":1,"id":${id},"name":"first","name":"last"}`);
      expect((await send(`{"id":${id},"name":"last"}`)).status).toBe(200);
      expect((await send(`{"id":${id},"name":"first"}`)).status).toBe(409);
    });

    it('answers a repeated create with 200 again, however the id is spelled', async () => {
      const id = freeId();
      for (const spelling of [`${id}`, `${id}.0`, `${id}e0`, `${id}000e-3`]) {
        const { status, body } = await send(`{"id":${spelling},"name":"x","tag":"t"}`);
        expect({ status, body }).toEqual({ status: 200, body: { name: 'x', tag: 't' } });
      }
    });

    it.each(['{"name":"y","tag":"t"}', '{"name":"x"}', '{"name":"x","tag":""}'])(
      'answers 409 for other content under a taken id: %s',
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

    it('lets exactly one of many racing clients have an id', async () => {
      const id = freeId();
      const racers = Array.from({ length: 40 }, (_, i) => send(`{"id":${id},"name":"racer ${i}"}`));
      const statuses = (await Promise.all(racers)).map(({ status }) => status);
      expect(statuses.toSorted()).toEqual([200, ...Array(39).fill(409)]);
    });

    it.each([
      ['"5"', 'a string'],
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
      ['1e400', 'above every double'],
    ])('refuses the id %s: %s', async (id) => {
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

    it.each(['null', '5', 'true', '[]', '{}'])(
      'refuses %s as a name and as a tag',
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

    it.each(['null', '[]', '"text"', '5', 'true'])(
      'refuses %s in place of a plant',
      async (body) => {
        expect(await send(body)).toMatchObject({
          status: 400,
          body: { error: 40001, message: 'invalid input: it must be an object' },
        });
      },
    );

    it('names every field that is missing', async () => {
      expect((await send('{}')).body).toEqual({
        error: 40001,
        message:
          'invalid input: id is missing: it must be an integer; name is missing: it must be a string',
      });
    });

    it.each(['\\u0000', 'a\\u0000b', '\\ud800', '\\udc00\\ud800'])(
      'refuses text that Postgres cannot hold: %s',
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

    it('takes ignored properties nested up to a depth that is the same everywhere', async () => {
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

    it('refuses a body of more than 1 MiB and takes one of just that', async () => {
      const wrapping = surface.name === 'tRPC' ? '{"json":}'.length : 0;
      const ofSize = (size: number) => {
        const json = `{"id":${freeId()},"name":"`;
        return `${json}${'a'.repeat(size - wrapping - json.length - 2)}"}`;
      };
      expect(await send(ofSize(1024 * 1024))).toMatchObject({ status: 200 });
      expect(await send(ofSize(1024 * 1024 + 1))).toMatchObject({
        status: 413,
        body: { error: 41300 },
      });
    });
  },
);

describe.each(cases)('stored over $surface.name on $database', ({ database, surface }) => {
  it('is every int64, exactly, however it is spelled', async () => {
    const server = await startServer(database);
    const spellings: [string, bigint][] = [
      ['0', 0n],
      ['-0', 0n],
      ['1e2', 100n],
      ['1200E-1', 120n],
      ['-7.000', -7n],
      ['9007199254740991', 9007199254740991n],
      ['9007199254740992', 9007199254740992n],
      ['9007199254740993', 9007199254740993n],
      ['9007199254740995.00', 9007199254740995n],
      ['-9007199254740993e0', -9007199254740993n],
      ['9223372036854775807', 2n ** 63n - 1n],
      ['-9.223372036854775808E+18', -(2n ** 63n)],
    ];
    for (const [spelling, id] of spellings) {
      const { body } = await surface.send(server, `{"id":${spelling},"name":"${id}"}`);
      expect(body).toEqual({ name: String(id) });
    }
    const ids = new Set(spellings.map(([, id]) => id));
    const rows = [...ids].map((id) => ({ id, name: String(id), tag: null }));
    expect(await server.stop()).toEqual(rows.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
  });

  it('is every text, byte for byte', async () => {
    const server = await startServer(database);
    const texts = [
      '',
      ' ',
      '\u0001\u001f\u007f',
      '"\\/\b\f\n\r\t',
      '\u2028\ufeff',
      'é e\u0301',
      '🪴',
      "'; --",
    ];
    for (const [id, text] of texts.entries()) {
      const plant = { name: text, tag: text };
      const { body } = await surface.send(server, JSON.stringify({ id, ...plant }));
      expect(body).toStrictEqual(plant);
    }
    const rows = texts.map((text, id) => ({ id: BigInt(id), name: text, tag: text }));
    expect(await server.stop()).toEqual(rows);
  });
});

describe.each(databases)('what one surface accepts, on %s', (database) => {
  const refused = ['"5"', 'true', 'null', '[]', '1.5', '2e19'].map(
    (id) => `{"id":${id},"name":"x"}`,
  );

  it('never changes by traffic on another', async () => {
    const server = await startServer(database);
    const caller = createCaller({ store: server.store, principal: { name: 'core', scopes } });
    for (let round = 0; round < 3; round++) {
      for (const [i, json] of refused.entries()) {
        const order = round % 2 === 0 ? surfaces : surfaces.toReversed();
        const input: never = JSON.parse(json) as never; // What the types would keep out.
        await expect(caller.createPlant(input)).rejects.toMatchObject({ cause: { code: 40001 } });
        for (const surface of order) {
          expect(await surface.send(server, json)).toMatchObject({ body: { error: 40001 } });
          const good = { id: 100 * round + i, name: 'x' };
          expect(await surface.send(server, JSON.stringify(good))).toMatchObject({ status: 200 });
        }
        await expect(caller.createPlant(input)).rejects.toMatchObject({ cause: { code: 40001 } });
      }
    }
    expect(await server.stop()).toHaveLength(3 * refused.length);
  });
});

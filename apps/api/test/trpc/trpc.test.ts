import type { AppRouter } from '@plant-store/core/router';
import {
  createTRPCClient,
  httpBatchLink,
  httpBatchStreamLink,
  httpLink,
  TRPCClientError,
} from '@trpc/client';
import superjson from 'superjson';
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest';
import { sendRaw } from '../fixtures/raw-request.ts';
import { type RunningServer, startServer } from '../fixtures/running-server.ts';
import { post } from '../fixtures/surfaces.ts';

let server: RunningServer;

beforeAll(async () => {
  server = await startServer('Postgres');
});

afterAll(() => server.stop());

const links = [
  { name: 'httpLink', link: httpLink },
  { name: 'httpBatchLink', link: httpBatchLink },
  { name: 'httpBatchStreamLink', link: httpBatchStreamLink },
];

describe.each(links)('a client with $name', ({ name, link }) => {
  const client = (token = server.token) =>
    createTRPCClient<AppRouter>({
      links: [
        link({
          url: `${server.url}/trpc`,
          transformer: superjson,
          headers: { authorization: `Bearer ${token}` },
        }),
      ],
    });
  const firstId = BigInt(links.findIndex((each) => each.name === name)) * 1000n;

  it('creates a plant under a bigint and under a number', async () => {
    const plant = { name: 'Monstera deliciosa', tag: 'Araceae' };
    const id = firstId + 9007199254740993n;
    expect(await client().createPlant.mutate({ id, ...plant })).toStrictEqual(plant);
    expect(await client().createPlant.mutate({ id, ...plant })).toStrictEqual(plant);
    const small = await client().createPlant.mutate({ id: Number(firstId), name: 'x' });
    expect(small).toStrictEqual({ name: 'x' });
  });

  it('creates many at once', async () => {
    const { createPlant } = client();
    const creates = Array.from({ length: 10 }, (_, i) =>
      createPlant.mutate({ id: firstId + 100n + BigInt(i), name: `plant ${i}` }),
    );
    const plants = await Promise.all(creates);
    expect(plants).toEqual(Array.from({ length: 10 }, (_, i) => ({ name: `plant ${i}` })));
  });

  it('leaves an undefined tag out', async () => {
    const plant = await client().createPlant.mutate({
      id: firstId + 200n,
      name: 'x',
      tag: undefined,
    });
    expect(plant).toStrictEqual({ name: 'x' });
  });

  it('gets the number of the catalogue in error.data, call by call', async () => {
    const { createPlant } = client();
    await createPlant.mutate({ id: firstId + 300n, name: 'x' });
    const [taken, invalid, good] = await Promise.allSettled([
      createPlant.mutate({ id: firstId + 300n, name: 'y' }),
      createPlant.mutate({ id: 1.5, name: 'x' }),
      createPlant.mutate({ id: firstId + 301n, name: 'x' }),
    ]);
    expect(taken).toMatchObject({
      reason: {
        message: `id ${firstId + 300n} belongs to another plant: choose an id that is free`,
        data: { error: 40900, code: 'CONFLICT', httpStatus: 409, path: 'createPlant' },
      },
    });
    expect(invalid).toMatchObject({ reason: { data: { error: 40001, code: 'BAD_REQUEST' } } });
    expect(good).toEqual({ status: 'fulfilled', value: { name: 'x' } });
  });

  it('gets what is wrong with each field in error.data', async () => {
    const plant: object = { id: 1.5, tag: '\0' };
    const create = client().createPlant.mutate(plant as { id: number; name: string }); // It is not.
    await expect(create).rejects.toMatchObject({
      data: {
        error: 40001,
        fields: {
          id: ['must be an integer from -9223372036854775808 to 9223372036854775807'],
          name: ['is missing: it must be a string'],
          tag: ['must not contain U+0000 or a lone surrogate'],
        },
      },
    });
  });

  it('gets an error that its token is unknown', async () => {
    const error = await client('wrong')
      .createPlant.mutate({ id: 1n, name: 'x' })
      .catch((e) => e);
    expect(error).toBeInstanceOf(TRPCClientError);
    expect(error.data).toMatchObject({ error: 40101, code: 'UNAUTHORIZED', httpStatus: 401 });
  });

  it('infers what it sends and gets', () => {
    const { mutate } = client().createPlant;
    expectTypeOf(mutate).parameter(0).toEqualTypeOf<{
      id: bigint | number;
      name: string;
      tag?: string | undefined;
    }>();
    expectTypeOf(mutate).returns.resolves.toEqualTypeOf<{
      name: string;
      tag?: string | undefined;
    }>();
  });
});

describe('over the wire', () => {
  const batchOf = (size: number) => ({
    path: `/trpc/${Array(size).fill('createPlant').join(',')}?batch=1`,
    body: JSON.stringify(
      Object.fromEntries(
        Array.from({ length: size }, (_, i) => [i, { json: { id: 5000 + i, name: 'batched' } }]),
      ),
    ),
  });

  it('answers a batch of 10 and refuses one of 11 before any of it is done', async () => {
    const eleven = batchOf(11);
    const refused = await post(server, eleven.path, eleven.body);
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ error: { json: { data: { error: 40002 } } } });
    const name = JSON.stringify({ json: { id: 5000, name: 'free until now' } });
    expect((await post(server, '/trpc/createPlant', name)).status).toBe(200);

    const ten = batchOf(10);
    const answered = await post(server, ten.path, ten.body);
    expect(answered.status).toBe(207);
    expect(await answered.json()).toHaveLength(10);
  });

  it('reads numbers as REST does, as far as a client of JavaScript can send them', async () => {
    const answer = async (id: string) => {
      const body = `{"0":{"json":{"id":${id},"name":"number"}}}`;
      return (await post(server, '/trpc/createPlant?batch=1', body)).status;
    };
    for (const id of ['7e3', '7000.0', '700000e-2']) expect(await answer(id)).toBe(200);
    // Beyond 2^53 a number may have been rounded before it was sent: there it must be a bigint.
    for (const id of ['9007199254740992', '9007199254740993', '1e17', '-1e18']) {
      expect(await answer(id)).toBe(400);
    }
    for (const id of ['1.00000000000000000001', '9007199254740990.5', '1e-400']) {
      expect(await answer(id)).toBe(400);
    }
  });

  it('loses no tag to a claim about another value', async () => {
    const plant = { id: 8000n, name: 'x', tag: 'kept', '': { tag: undefined } };
    const reply = await post(server, '/trpc/createPlant', superjson.stringify(plant));
    expect(await reply.json()).toMatchObject({ result: { data: { json: { tag: 'kept' } } } });
  });

  it.each(['x', '', '1', '[]', '{"a":1}'])('answers 400 to connectionParams=%s', async (params) => {
    const path = `/trpc/createPlant?connectionParams=${encodeURIComponent(params)}`;
    const reply = await post(server, path, '{"json":{"id":1,"name":"x"}}');
    expect(reply.status).toBe(400);
    expect(await reply.text()).toMatch(/"error":40002\b/);
  });

  it('frames a stream so that the connection goes on', async () => {
    const body = '{"0":{"json":{"id":8200,"name":"x"}}}';
    const stream =
      'POST /trpc/createPlant?batch=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer test-token\r\n' +
      `Content-Type: application/json\r\ntrpc-accept: application/jsonl\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const last = 'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    const { text } = await sendRaw(server.url, stream + last);
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\ntransfer-encoding: chunked\r\n/is);
    expect(text).toMatch(/\r\n0\r\n\r\nHTTP\/1\.1 200 OK\r\n.*\{"status":"alive"\}$/s);
  });

  it('finds its path however that is encoded', async () => {
    const body = '{"json":{"id":8100,"name":"x"}}';
    expect((await post(server, '/%74rpc/create%50lant', body)).status).toBe(200);
  });

  it.each([
    ['GET', '/trpc/createPlant', 405, 40500],
    ['GET', '/trpc/createPlant?input=%7B%7D', 405, 40500],
    ['GET', '/trpc/createPlant,createPlant?batch=1', 405, 40500],
    ['POST', '/trpc/nothing', 404, 40400],
    ['POST', '/trpc/createPlant/more', 404, 40400],
    ['POST', '/trpc/%2e', 404, 40400],
    ['POST', '/trpc/toString', 404, 40400],
  ])('answers %s %s with %i', async (method, path, status, error) => {
    const reply = await fetch(server.url + path, {
      method,
      headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
    });
    expect(reply.status).toBe(status);
    expect(JSON.stringify(await reply.json())).toContain(`"error":${error},`);
    if (status === 405) expect(reply.headers.get('allow')).toBe('POST');
  });

  it.each(['"5"', '[]', 'null', '{"0":5}', '{"json":5}'])(
    'answers 400 to the batch %s',
    async (body) => {
      const reply = await post(server, '/trpc/createPlant?batch=1', body);
      expect(reply.status).toBe(400);
    },
  );

  it.each([
    ['a boolean', true, ['bigint']],
    ['text', '0x10', ['bigint']],
    ['text', '5', ['number']],
    ['a number', 1e9, [['typed-array', 'Float64Array']]],
  ])('does not believe that %s is an id', async (_what, id, claim) => {
    const body = { json: { id, name: 'x' }, meta: { values: { id: claim } } };
    const reply = await post(server, '/trpc/createPlant', JSON.stringify(body));
    expect(reply.status).toBe(400);
    expect(await reply.text()).toContain('"error":40001,');
  });
});

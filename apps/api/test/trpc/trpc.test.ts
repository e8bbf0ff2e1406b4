import { expect, it } from 'vitest';
import { lastRequest, rawPost, sendRaw } from '../fixtures/raw-request.ts';
import { shareServer } from '../fixtures/running-server.ts';
import { post } from '../fixtures/surfaces.ts';

const server = shareServer();

const batchOf = (size: number, firstId: number) => ({
  path: `/trpc/${Array(size).fill('createPlant').join(',')}?batch=1`,
  body: JSON.stringify({
    ...Array.from({ length: size }, (_, i) => ({ json: { id: firstId + i, name: 'batched' } })),
  }),
});

const message = "the batch has 11 calls: send at most 10, which tRPC's links do with maxItems: 10";

it.each([
  [6000, {}],
  [6100, { 'trpc-accept': 'application/jsonl' }],
])(
  'rejects a batch of 11 calls and runs none of the calls (first id %i, headers %j)',
  async (firstId, headers) => {
    const { path, body } = batchOf(11, firstId);
    const response = await post(server, path, body, headers);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { json: { message, data: { error: 40002 } } },
    });
    const other = JSON.stringify({ json: { id: firstId, name: 'still free' } });
    expect((await post(server, '/trpc/createPlant', other)).status).toBe(200);
  },
);

it('rejects a batch of 11 queries', async () => {
  const path = `/trpc/${Array(11).fill('nothing').join()}?input=%7B%7D&batch=1`;
  const authorization = `Bearer ${server.token}`;
  const response = await fetch(server.url + path, { headers: { authorization } });
  expect(await response.json()).toMatchObject({ error: { json: { message } } });
});

it('in a batch, accepts a number only when JavaScript can send the number exactly', async () => {
  const statusFor = async (id: string) => {
    const body = `{"0":{"json":{"id":${id},"name":"number"}}}`;
    return (await post(server, '/trpc/createPlant?batch=1', body)).status;
  };
  for (const id of ['7e3', '7000.0', '700000e-2']) expect(await statusFor(id)).toBe(200);
  // JavaScript rounds numbers beyond 2^53, so a client must send such ids as bigints, not as numbers.
  const beyond = ['9007199254740992', '9007199254740993', '1e17', '-1e18'];
  const fractions = ['1.00000000000000000001', '9007199254740990.5', '1e-400'];
  for (const id of [...beyond, ...fractions]) expect(await statusFor(id)).toBe(400);
});

it.each([
  ['without the header trpc-accept', {}],
  ['with the header trpc-accept', { 'trpc-accept': 'application/json' }],
])('reads the same numbers in a query %s as in a mutation', async (_how, headers) => {
  await post(server, '/trpc/createPlant', '{"json":{"id":8100,"name":"x"}}');
  const statusFor = async (id: string) => {
    const url = `${server.url}/trpc/getPlant?input={"json":{"id":${id}}}`;
    const authorization = `Bearer ${server.token}`;
    return (await fetch(url, { headers: { authorization, ...headers } })).status;
  };
  for (const id of ['8100', '81e2', '8100.0']) expect(await statusFor(id)).toBe(200);
  for (const id of ['8100.00000000000000000001', '9007199254740993', '1e-400', '8100x', '']) {
    expect(await statusFor(id)).toBe(400);
  }
});

it('keeps the connection open after a stream', async () => {
  const body = '{"0":{"json":{"id":8200,"name":"x"}}}';
  const headers = ['trpc-accept: application/jsonl'];
  const stream = rawPost(body, '/trpc/createPlant?batch=1', headers);
  const { text } = await sendRaw(server.url, stream + lastRequest);
  expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\ntransfer-encoding: chunked\r\n/is);
  expect(text).toMatch(/\r\n0\r\n\r\nHTTP\/1\.1 200 OK\r\n.*\{"status":"alive"\}$/s);
});

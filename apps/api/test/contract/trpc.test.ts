import { openPlantStore } from '@plant-store/core';
import { appRouter } from '@plant-store/core/router';
import { scopes } from '@plant-store/schemas';
import { resolveResponse } from '@trpc/server/http';
import { describe, expect, it } from 'vitest';
import { share, startServer } from '../fixtures/server.ts';
import { errorIn, get, post, request } from '../fixtures/surfaces.ts';

/** A server, and a store on the same database. The tests also call this store through the library tRPC. */
const server = share(async () => {
  const started = await startServer();
  const store = await openPlantStore({ databaseUrl: started.databaseUrl });
  return {
    ...started,
    store,
    async stop() {
      await store.close();
      await started.stop();
    },
  };
});

const plant = (id: number, name = 'Hoya') => ({ json: { id, name } });
const batchOf = (...inputs: unknown[]) => JSON.stringify(Object.assign({}, inputs));
const paths = (count: number) => Array.from({ length: count }, () => 'createPlant').join(',');
const asBigint = (id: unknown) => ({
  json: { id, name: 'x' },
  meta: { values: { id: ['bigint'] }, v: 1 },
});

const input = (value: unknown) => `input=${encodeURIComponent(JSON.stringify(value))}`;
const bigint = (name: string, value: string) => ({
  json: { [name]: value },
  meta: { values: { [name]: ['bigint'] }, v: 1 },
});
const [first, unknown] = [bigint('id', '1'), bigint('id', '404')];

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

const requests: [name: string, path: string, body?: string][] = [
  ['a plant', 'createPlant', JSON.stringify(plant(1))],
  ['another plant with a taken id', 'createPlant', JSON.stringify(plant(1, 'Ficus'))],
  ['an invalid plant', 'createPlant', '{"json":{"id":"5"}}'],
  ['an id as a bigint', 'createPlant', JSON.stringify(asBigint('9007199254740993'))],
  ['an id beyond 2^53 as a number', 'createPlant', '{"json":{"id":9007199254740993,"name":"x"}}'],
  ['an id with an exponent', 'createPlant', '{"json":{"id":1e0,"name":"Hoya"}}'],
  ['false superjson metadata', 'createPlant', JSON.stringify(asBigint(true))],
  ['JSON that is not superjson', 'createPlant', '{"id":1,"name":"Hoya"}'],
  ['null', 'createPlant', 'null'],
  ['no body', 'createPlant'],
  ['deeply nested JSON', 'createPlant', `{"json":{"id":1,"name":"Hoya","more":${nested(400)}}}`],
  ['a query', 'createPlant?input=1', JSON.stringify(plant(1))],
  ['an encoded path', 'create%50lant', JSON.stringify(plant(1))],
  ['an unknown path', 'nothing', JSON.stringify(plant(1))],
  ['the name of a property of every object', 'constructor', JSON.stringify(plant(1))],
  ['a path with a slash', 'createPlant/more', JSON.stringify(plant(1))],
  ['several paths without batch=1', paths(2), batchOf(plant(1), plant(2))],
  ['a batch', `${paths(2)}?batch=1`, batchOf(plant(2), plant(3))],
  ['a batch of one', 'createPlant?batch=1', batchOf(plant(1))],
  ['a batch with an error', `${paths(3)}?batch=1`, batchOf(plant(2), plant(1, 'Ficus'), plant(4))],
  ['a batch with only errors', `${paths(2)}?batch=1`, batchOf({ json: {} }, { json: null })],
  ['a batch without an input', `${paths(2)}?batch=1`, batchOf(plant(2))],
  ['a batch with too many inputs', 'createPlant?batch=1', batchOf(plant(2), plant(5))],
  ['a batch with an unknown path', 'createPlant,nothing?batch=1', batchOf(plant(2), plant(3))],
  ['ten calls', `${paths(10)}?batch=1`, batchOf(...Array.from({ length: 10 }, (_, i) => plant(i)))],
  ['a query by POST', `getPlant?${input(first)}`],
];

const queries: [name: string, path: string][] = [
  ['a get', `getPlant?${input(first)}`],
  ['a get of an unknown id', `getPlant?${input(unknown)}`],
  ['an id as a number', `getPlant?${input({ json: { id: 1 } })}`],
  ['an id beyond 2^53 as a number', 'getPlant?input={"json":{"id":9007199254740993}}'],
  ['an input with deeply nested JSON', `getPlant?input={"json":{"id":1e0,"more":${nested(400)}}}`],
  ['an invalid id', `getPlant?${input({ json: { id: '1' } })}`],
  ['an input that is not superjson', `getPlant?${input({ id: 1 })}`],
  ['an empty input', 'getPlant?input='],
  ['no input', 'listPlants'],
  ['an input with spaces as +', 'getPlant?input={"json":+{"id":+1}}'],
  ['batch=0', `getPlant?batch=0&${input(first)}`],
  ['a list', `listPlants?${input({ json: { limit: 2 } })}`],
  ['a list after an id', `listPlants?${input(bigint('after', '1'))}`],
  ['an invalid limit', `listPlants?${input({ json: { limit: 0 } })}`],
  ['a batch', `getPlant,listPlants?batch=1&${input({ 0: first, 1: { json: {} } })}`],
  ['a batch with an error', `getPlant,getPlant?batch=1&${input({ 0: first, 1: unknown })}`],
  ['a batch without an input', `getPlant,getPlant?batch=1&${input({ 0: first })}`],
  ['a mutation by GET', `createPlant?${input(plant(1))}`],
  ['a batch of mutations by GET', `${paths(2)}?batch=1&${input({ 0: plant(1), 1: plant(2) })}`],
];

it.each([
  ...requests.map((each) => ['POST', ...each]),
  ...queries.map((each) => ['GET', ...each]),
] as [string, string, string, string?][])(
  'responds to %s (%s) as the library tRPC does',
  async (...call) => {
    const [method, , path, body] = call;
    // These requests create the plants that the compared requests read or create again.
    await responseTo('POST', 'createPlant', JSON.stringify(plant(1)));
    await responseTo(method, path, body);
    expect(await responseTo(method, path, body)).toEqual(await trpcResponseTo(method, path, body));
  },
);

/** Returns the response that the library tRPC gives to a request. */
async function trpcResponseTo(method: string, path: string, body?: string) {
  const url = new URL(`${server.url}/trpc/${path}`);
  const headers = { 'content-type': 'application/json' };
  const response = await resolveResponse({
    router: appRouter,
    req: new Request(url, { method, headers, ...(body !== undefined && { body }) }),
    path: url.pathname.slice('/trpc/'.length),
    error: null,
    createContext: async () => ({ store: server.store, principal: { name: 'test', scopes } }),
  });
  return partsOf(response);
}

const responseTo = async (method: string, path: string, body?: string) =>
  partsOf(await request(server, method, `/trpc/${path}`, body));

async function partsOf(response: Response) {
  const { status, headers } = response;
  // superjson adds `referentialEqualities` when `next` equals the last id. Our server leaves this key out.
  const body = (await response.text()).replace(/"referentialEqualities":\{.*?\},/, '');
  return { status, type: headers.get('content-type'), allow: headers.get('allow'), body };
}

it.each([
  [40001, `getPlant?${input(first)}&${input(unknown)}`],
  [40001, `getPlant?batch=1&batch=1&${input({ 0: first })}`],
  [40001, `getPlant?${input(first)}&more=1`],
  [40001, `getPlant?${input(first)}&connectionParams=1`],
  [40000, 'getPlant?input={'],
  [40002, 'getPlant?input=%ff'],
  [40002, 'getPlant?input={"json":{"tag":"%zz"}}'],
  [40002, `getPlant?batch=1&${input(null)}`],
  [40001, 'createPlant?more=1', JSON.stringify(plant(90))],
  [40001, 'createPlant?batch=1&batch=1', batchOf(plant(90))],
  [40002, 'createPlant?input=%ff', JSON.stringify(plant(90))],
  [40002, 'createPlant?batch=1', JSON.stringify([plant(90)])],
  [40002, 'createPlant?batch=1', 'null'],
  [40002, 'createPlant?batch=1', '5'],
  [40000, 'createPlant', '{"json":'],
])('responds with %i where the contract is stricter than the library (%#)', async (...row) => {
  const [code, path, body] = row;
  const response = await responseTo(body === undefined ? 'GET' : 'POST', path, body);
  const { error } = errorIn(JSON.parse(response.body));
  expect([response.status, error]).toEqual([Math.floor(code / 100), code]);
});

describe('a batch', () => {
  const error = (code: number) => ({ error: { json: { data: { error: code } } } });

  it('runs its other calls when the input of one call is not superjson', async () => {
    const { status, body } = await responseTo('POST', `${paths(2)}?batch=1`, batchOf(plant(91), 5));
    const result = { result: { data: { json: { name: 'Hoya' } } } };
    expect([status, JSON.parse(body)]).toMatchObject([207, [result, error(40001)]]);
  });

  it('rejects only the calls that need another HTTP method', async () => {
    const path = `getPlant,createPlant?batch=1&${input({ 0: first, 1: plant(92) })}`;
    const { status, body } = await responseTo('GET', path);
    expect([status, JSON.parse(body)]).toMatchObject([207, [{ result: {} }, error(40500)]]);
  });

  it('of 11 calls is rejected, and none of the calls runs', async () => {
    const plants = Array.from({ length: 11 }, (_, i) => plant(6_000 + i, 'batched'));
    const { status, body } = await responseTo('POST', `${paths(11)}?batch=1`, batchOf(...plants));
    expect([status, errorIn(JSON.parse(body)).error]).toEqual([400, 40002]);
    const list = await get(server, '/plants?search=batched');
    expect(await list.json()).toEqual({ plants: [] });
    const queries = await get(server, `/trpc/${Array(11).fill('nothing')}?input=%7B%7D&batch=1`);
    expect(await queries.text()).toContain('"error":40002');
  });
});

// JavaScript rounds numbers beyond 2^53, so a client must send such ids as bigints, not as numbers.
it.each([
  ...['7e3', '7000.0', '700000e-2'].map((id) => [id, 200]),
  ...['9007199254740993', '1e17', '-1e18', '7000.00000000000000000001', '1e-400'].map((id) => [
    ...[id, 400],
  ]),
])('the number %s as an id gets %i', async (id, expected) => {
  const json = `{"json":{"id":${id},"name":"number"}}`;
  for (const response of [
    await post(server, '/trpc/createPlant', json),
    await post(server, '/trpc/createPlant?batch=1', `{"0":${json}}`),
    await get(server, `/trpc/getPlant?input={"json":{"id":${id}}}`),
  ]) {
    expect(response.status).toBe(expected);
  }
});

it('the property `fields` of an error has the messages of the fields, at most ten in all', async () => {
  const invalid = await post(server, '/trpc/createPlant', '{"json":{"id":1.5,"name":5}}');
  expect(Object(await invalid.json()).error.json.data.fields).toEqual({
    id: [expect.stringContaining('integer')],
    name: [expect.stringContaining('string')],
  });
  const plants = Array.from({ length: 1_000 }, () => ({ id: 1.5 }));
  const response = await post(server, '/trpc/createPlants', JSON.stringify({ json: { plants } }));
  expect(Object(await response.json()).error.json.data.fields.plants.length).toBeLessThan(11);
});

import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RunningServer, startServer } from '../fixtures/running-server.ts';

let server: RunningServer;

beforeAll(async () => {
  server = await startServer('Postgres');
});

afterAll(() => server.stop());

const plant = (id: number, name = 'Hoya') => ({ json: { id, name } });
const batchOf = (...inputs: unknown[]) => JSON.stringify(Object.assign({}, inputs));
const paths = (count: number) => Array.from({ length: count }, () => 'createPlant').join(',');
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

const requests: [name: string, path: string, body?: string][] = [
  ['a plant', 'createPlant', JSON.stringify(plant(1))],
  ['another plant under its id', 'createPlant', JSON.stringify(plant(1, 'Ficus'))],
  ['an invalid plant', 'createPlant', '{"json":{"id":"5"}}'],
  [
    'a bigint',
    'createPlant',
    '{"json":{"id":"9007199254740993","name":"x"},"meta":{"values":{"id":["bigint"]},"v":1}}',
  ],
  ['a number beyond 2^53', 'createPlant', '{"json":{"id":9007199254740993,"name":"x"}}'],
  [
    'a fraction that would be rounded',
    'createPlant',
    '{"json":{"id":1.00000000000000001,"name":"x"}}',
  ],
  ['an exponent', 'createPlant', '{"json":{"id":1e0,"name":"Hoya"}}'],
  [
    'false superjson metadata',
    'createPlant',
    '{"json":{"id":true,"name":"x"},"meta":{"values":{"id":["bigint"]},"v":1}}',
  ],
  ['JSON that is not superjson', 'createPlant', '{"id":1,"name":"Hoya"}'],
  ['null', 'createPlant', 'null'],
  ['a body that is not JSON', 'createPlant', '{"json":'],
  ['no body', 'createPlant'],
  ['deeply nested JSON', 'createPlant', `{"json":{"id":1,"name":"Hoya","more":${nested(600)}}}`],
  ['very deeply nested JSON', 'createPlant', nested(100_000)],
  ['a query', 'createPlant?input=1', JSON.stringify(plant(1))],
  ['an encoded path', 'create%50lant', JSON.stringify(plant(1))],
  ['an unknown path', 'deletePlant', JSON.stringify(plant(1))],
  ['the name of a property of every object', 'constructor', JSON.stringify(plant(1))],
  ['several paths without batch=1', paths(2), batchOf(plant(1), plant(2))],
  ['a batch', `${paths(2)}?batch=1`, batchOf(plant(2), plant(3))],
  ['a batch of one', 'createPlant?batch=1', batchOf(plant(1))],
  ['a batch with an error', `${paths(3)}?batch=1`, batchOf(plant(2), plant(1, 'Ficus'), plant(4))],
  [
    'a batch whose calls have the same error',
    `${paths(2)}?batch=1`,
    batchOf({ json: {} }, { json: null }),
  ],
  ['a batch without an input', `${paths(2)}?batch=1`, batchOf(plant(2))],
  ['a batch with too many inputs', 'createPlant?batch=1', batchOf(plant(2), plant(5))],
  ['a batch with an input that is not superjson', `${paths(2)}?batch=1`, batchOf(plant(2), 5)],
  ['a batch that is an array', `${paths(2)}?batch=1`, JSON.stringify([plant(2), plant(3)])],
  ['a batch that is null', `${paths(2)}?batch=1`, 'null'],
  ['a batch that is a number', `${paths(2)}?batch=1`, '5'],
  ['a batch with an unknown path', 'createPlant,deletePlant?batch=1', batchOf(plant(2), plant(3))],
  [
    'ten calls',
    `${paths(10)}?batch=1`,
    batchOf(...Array.from({ length: 10 }, (_, i) => plant(10 + i))),
  ],
  [
    'eleven calls',
    `${paths(11)}?batch=1`,
    batchOf(...Array.from({ length: 11 }, (_, i) => plant(10 + i))),
  ],
];

it.each(requests)('answers %s as tRPC itself does', async (_name, path, body) => {
  const request = { method: 'POST', path, ...(body !== undefined && { body }) };
  await answer(request); // The first create differs from repeated ones: it stores the plant.
  expect(await answer(request)).toEqual(await answerOfTrpc(request));
});

const input = (value: unknown) => `input=${encodeURIComponent(JSON.stringify(value))}`;
const bigint = (name: string, value: string) => ({
  json: { [name]: value },
  meta: { values: { [name]: ['bigint'] }, v: 1 },
});
const [first, unknown] = [bigint('id', '1'), bigint('id', '404')];

const queries: [name: string, path: string, method?: string][] = [
  ['a get', `getPlant?${input(first)}`],
  ['a get of an unknown id', `getPlant?${input(unknown)}`],
  ['an id as a number', `getPlant?${input({ json: { id: 1 } })}`],
  ['an id beyond 2^53 as a number', 'getPlant?input={"json":{"id":9007199254740993}}'],
  ['a fraction that would be rounded', 'getPlant?input={"json":{"id":1.00000000000000000001}}'],
  ['an input with deeply nested JSON', `getPlant?input={"json":{"id":1e0,"more":${nested(600)}}}`],
  ['an invalid id', `getPlant?${input({ json: { id: '1' } })}`],
  ['an input that is not superjson', `getPlant?${input({ id: 1 })}`],
  ['an input that is not JSON', 'getPlant?input={'],
  ['an empty input', 'getPlant?input='],
  ['no input', 'listPlants'],
  ['an input with spaces as +', 'getPlant?input={"json":+{"id":+1}}'],
  ['an input that is not UTF-8', 'getPlant?input=%ff'],
  ['two inputs', `getPlant?${input(first)}&${input(unknown)}`],
  ['another parameter', `getPlant?${input(first)}&more=1`],
  ['batch=0', `getPlant?batch=0&${input(first)}`],
  ['batch=1 twice', `getPlant?batch=1&batch=1&${input({ 0: first })}`],
  ['a list', `listPlants?${input({ json: { limit: 2 } })}`],
  ['a list after an id', `listPlants?${input(bigint('after', '1'))}`],
  ['an invalid limit', `listPlants?${input({ json: { limit: 0 } })}`],
  ['a batch', `getPlant,listPlants?batch=1&${input({ 0: first, 1: { json: {} } })}`],
  ['a batch with an error', `getPlant,getPlant?batch=1&${input({ 0: first, 1: unknown })}`],
  ['a batch without an input', `getPlant,getPlant?batch=1&${input({ 0: first })}`],
  ['a batch that is null', `getPlant?batch=1&${input(null)}`],
  ['a mutation by GET', `createPlant?${input(plant(1))}`],
  ['a query beside a mutation', `getPlant,createPlant?batch=1&${input({ 0: first, 1: plant(1) })}`],
  ['a query by POST', `getPlant?${input(first)}`, 'POST'],
  ['a query by HEAD', `getPlant?${input(first)}`, 'HEAD'],
];

it.each(queries)(
  'answers the query %s as tRPC itself does',
  async (_name, path, method = 'GET') => {
    await answer({ method: 'POST', path: 'createPlant', body: JSON.stringify(plant(1)) });
    expect(await answer({ method, path })).toEqual(await answerOfTrpc({ method, path }));
  },
);

interface SentRequest {
  method: string;
  path: string;
  body?: string;
}

/** With this header, tRPC itself handles the request. The header changes nothing else. */
function answerOfTrpc(request: SentRequest) {
  return answer(request, { 'trpc-accept': 'application/json' });
}

async function answer({ path, ...request }: SentRequest, headers: Record<string, string> = {}) {
  const reply = await fetch(`${server.url}/trpc/${path}`, {
    ...request,
    headers: {
      authorization: `Bearer ${server.token}`,
      'content-type': 'application/json',
      'x-request-id': 'same',
      ...headers,
    },
  });
  const sent = Object.fromEntries(reply.headers);
  delete sent['date'];
  const body = await reply.text();
  // superjson also notes that `next` equals the last id, which means nothing for a bigint.
  const [equalities = ''] = /"referentialEqualities":\{.*?\},/.exec(body) ?? [];
  sent['content-length'] = String(Number(sent['content-length']) - equalities.length);
  return { status: reply.status, headers: sent, body: body.replace(equalities, '') };
}

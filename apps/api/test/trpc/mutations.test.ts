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
  const answer = async (headers: Record<string, string>) => {
    const reply = await fetch(`${server.url}/trpc/${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${server.token}`,
        'content-type': 'application/json',
        'x-request-id': 'same',
        ...headers,
      },
      ...(body !== undefined && { body }),
    });
    const sent = Object.fromEntries(reply.headers);
    delete sent['date'];
    return { status: reply.status, headers: sent, body: await reply.text() };
  };
  await answer({}); // The first create differs from repeated ones: it stores the plant.
  // With this header, tRPC itself handles the request. The header changes nothing else.
  expect(await answer({})).toEqual(await answer({ 'trpc-accept': 'application/json' }));
});

import { inspect } from 'node:util';
import type { AppRouter as CoreRouter } from '@plant-store/core/router';
import { freePort } from '@plant-store/test-setup';
import type { inferRouterError, inferRouterInputs, inferRouterOutputs } from '@trpc/server';
import postgres from 'postgres';
import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  AccessTokenError,
  type AppRouter,
  createPlantStoreClient,
  plantStoreError,
} from '../src/index.ts';
import { client, databaseUrl, listen, thrownBy, token, url, useServer } from './fixtures/server.ts';

useServer();

const storedIds = async () => {
  const sql = postgres(databaseUrl);
  const rows = await sql`select id::text from plants order by id`;
  await sql.end();
  return rows.map(({ id }) => BigInt(id));
};

const errorOf = async (call: Promise<unknown>) => plantStoreError(await thrownBy(call));

describe('createPlantStoreClient', () => {
  it('creates 25 plants at the same time, in several requests, and keeps ids beyond 2^53 exact', async () => {
    const ids = Array.from({ length: 25 }, (_, i) => 9007199254740993n + BigInt(i));
    const plant = { name: 'Monstera deliciosa', tag: 'Araceae' };
    const created = await Promise.all(ids.map((id) => client.createPlant.mutate({ id, ...plant })));
    expect(created).toEqual(ids.map(() => plant));
    expect(await storedIds()).toEqual(ids);
  });

  it('calls the token function for each request', async () => {
    const tokens = ['expired', 'secret-of-the-tests'];
    const { createPlant } = createPlantStoreClient({ url, token: () => tokens.shift() ?? '' });
    const create = () => createPlant.mutate({ id: 1, name: 'x' });
    expect(await errorOf(create())).toMatchObject({ code: 40101, kind: 'tokenInvalid' });
    expect(await create()).toEqual({ name: 'x' });
  });
});

it.each(['/', '/trpc', '/trpc/'])('an address may end with %s', async (end) => {
  const { whoAmI } = createPlantStoreClient({ url: `${url}${end}`, token });
  expect(await whoAmI.query()).toMatchObject({ name: 'environment' });
});

describe('plantStoreError', () => {
  it('returns the kind, the code and the message of an error', async () => {
    await client.createPlant.mutate({ id: 2, name: 'x' });
    expect(await errorOf(client.createPlant.mutate({ id: 2, name: 'y' }))).toEqual({
      kind: 'idTaken',
      code: 40900,
      message: 'id 2 belongs to another plant: choose an id that is free',
    });
  });

  it('returns the messages for each invalid field', async () => {
    expect(await errorOf(client.createPlant.mutate({ id: 1.5, name: '\0' }))).toMatchObject({
      kind: 'invalidInput',
      code: 40001,
      fields: {
        id: ['must be an integer from -9223372036854775808 to 9223372036854775807'],
        name: ['must not contain U+0000 or a lone surrogate'],
      },
    });
  });

  it('says after a network error that the store did not respond', async () => {
    const port = await freePort();
    const nowhere = createPlantStoreClient({
      url: `http://127.0.0.1:${port}`,
      token,
      retry: false,
    });
    expect(await errorOf(nowhere.createPlant.mutate({ id: 1, name: 'x' }))).toEqual({
      kind: 'noResponse',
      code: undefined,
      message:
        'the plant store did not respond: check its address and the network, and try again ' +
        `(fetch failed: connect ECONNREFUSED 127.0.0.1:${port})`,
    });
  });

  it.each([
    ['text/html', '<h1>Bad gateway</h1>'],
    ['text/html', ''],
    ['application/json', '{"message":"Bad gateway"}'],
    ['application/json', ''],
  ])('names the status when a proxy responds with %s (%s)', async (type, page) => {
    const proxy = await listen((_request, response) =>
      response.writeHead(502, { 'content-type': type }).end(page),
    );
    const { createPlant } = createPlantStoreClient({ url: proxy, token, retry: false });
    expect(await errorOf(createPlant.mutate({ id: 1, name: 'x' }))).toMatchObject({
      kind: 'noResponse',
      message: expect.stringContaining('(HTTP 502'),
    });
  });

  it('returns undefined for an aborted call, and for a value that no call threw', async () => {
    const aborted = await thrownBy(
      client.createPlant.mutate({ id: 1, name: 'x' }, { signal: AbortSignal.abort() }),
    );
    for (const thrown of [aborted, new Error('a bug'), 'text', undefined]) {
      expect(plantStoreError(thrown)).toBeUndefined();
    }
  });
});

describe('an access token', () => {
  /** Nothing listens at this address. If the client sent a request, the error would be another error. */
  const create = (token: unknown) =>
    createPlantStoreClient({
      url: 'http://127.0.0.1:1',
      token: token as string, // A program in JavaScript can pass any value.
    }).createPlant.mutate({ id: 1, name: 'x' });

  const missing = 'the access token is missing: give the client a token of the store';
  const invalid =
    'the access token contains a character that an HTTP header cannot hold: ' +
    'give the client the token as the store showed it';

  it.each([
    ['undefined', undefined, missing],
    ['a function that resolves to an empty text', async () => '', missing],
    ['a text with a line break', 'secret\nsecret', invalid],
    ['a text outside Latin-1', 'secret🌻', invalid],
    ['a function that returns such a text', () => 'secret…', invalid],
  ])('causes an AccessTokenError when the token is %s', async (_kind, token, message) => {
    const thrown = await thrownBy(create(token));
    expect(thrown).toMatchObject({ message, cause: expect.any(AccessTokenError) });
    expect(inspect(thrown, { depth: null })).not.toContain('secret-of-the-tests');
    expect(plantStoreError(thrown)).toBeUndefined();
  });
});

describe('the types', () => {
  it('are the same in the client and in core', () => {
    expectTypeOf<inferRouterInputs<AppRouter>>().toEqualTypeOf<inferRouterInputs<CoreRouter>>();
    expectTypeOf<inferRouterOutputs<AppRouter>>().toEqualTypeOf<inferRouterOutputs<CoreRouter>>();
    expectTypeOf<inferRouterError<AppRouter>>().toEqualTypeOf<inferRouterError<CoreRouter>>();
  });

  it('narrow the type of an error by its code and by its kind', () => {
    const narrowed = (thrown: unknown) => {
      const error = plantStoreError(thrown);
      if (error?.code === 40900) expectTypeOf(error.kind).toEqualTypeOf<'idTaken'>();
      if (error?.kind === 'idTaken') expectTypeOf(error.code).toEqualTypeOf<40900>();
      if (error?.kind === 'noResponse') expectTypeOf(error.code).toEqualTypeOf<undefined>();
      if (error?.code === 40001) {
        expectTypeOf(error.fields['name']).toEqualTypeOf<string[] | undefined>();
      }
      return error?.message;
    };
    expectTypeOf(narrowed).returns.toEqualTypeOf<string | undefined>();
  });

  it('reject invalid code', () => {
    const rejected = () => [
      // @ts-expect-error: an id is not a string
      client.createPlant.mutate({ id: '1', name: 'x' }),
      // @ts-expect-error: a plant has a name
      client.createPlant.mutate({ id: 1n }),
      // @ts-expect-error: a tag is a string
      client.createPlant.mutate({ id: 1n, name: 'x', tag: null }),
      // @ts-expect-error: a plant has no property `other`
      client.createPlant.mutate({ id: 1n, name: 'x', other: 3 }),
      // @ts-expect-error: each plant of a list has a name
      client.createPlants.mutate({ plants: [{ id: 1n }] }),
      // @ts-expect-error: a count has no name
      client.countPlants.query({ name: 'x' }),
      // @ts-expect-error: a mutation is not a query
      client.createPlant.query({ id: 1n, name: 'x' }),
      // @ts-expect-error: no procedure has this name
      client.movePlant.mutate({ id: 1n }),
      // @ts-expect-error: the token is required
      createPlantStoreClient({ url }),
      // @ts-expect-error: only the error invalidInput has fields
      plantStoreError(undefined)?.fields,
      // @ts-expect-error: no error has this code
      plantStoreError(undefined)?.code === 40999,
    ];
    expectTypeOf(rejected).toBeFunction();
  });
});

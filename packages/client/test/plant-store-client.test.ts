import { inspect } from 'node:util';
import type { AppRouter as CoreRouter } from '@plant-store/core/router';
import type { Plant } from '@plant-store/schemas';
import type { inferRouterError, inferRouterInputs, inferRouterOutputs } from '@trpc/server';
import postgres from 'postgres';
import { describe, expect, expectTypeOf, it, onTestFinished, vi } from 'vitest';
import {
  AccessTokenError,
  type AppRouter,
  createPlantStoreClient,
  isRetryable,
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

  it('creates large plants at the same time in several requests', async () => {
    const plants = Array.from({ length: 10 }, (_, i) => ({
      id: 7_000 + i,
      name: String(i).repeat(i < 5 ? 8_000 : 200_000),
      tag: '\u0001'.repeat(8_000),
    }));
    const created = await Promise.all(plants.map((plant) => client.createPlant.mutate(plant)));
    expect(created).toEqual(plants.map(({ name, tag }) => ({ name, tag })));
  });

  it('creates several long lists of plants at the same time', async () => {
    const lists = [0, 1, 2].map((list) =>
      Array.from({ length: 1_000 }, (_, i) => {
        return { id: 9007199254800993n + BigInt(1_000 * list + i), name: 'x'.repeat(500) };
      }),
    );
    const calls = lists.map((plants) => client.createPlants.mutate({ plants }));
    expect(await Promise.all(calls)).toEqual(
      lists.map((plants) => ({ results: plants.map(({ id }) => ({ id, result: 'created' })) })),
    );
    const [taken = { id: 0n }] = lists.flat();
    const { results } = await client.createPlants.mutate({ plants: [{ ...taken, name: 'other' }] });
    expect(results).toMatchObject([{ id: taken.id, error: 40900 }]);
    expect(await client.countPlants.query({ tag: 'no such tag' })).toEqual({
      ...{ count: 0, isExact: true },
    });
  });

  it('returns the owner and the scopes of the token', async () => {
    const scopes = ['plants:create', 'plants:read', 'plants:delete', 'tokens:manage'];
    expect(await client.whoAmI.query()).toEqual({ name: 'environment', scopes });
  });

  it('lists plants by long tags at the same time, although the tags do not fit into one URL', async () => {
    const tags = Array.from({ length: 10 }, (_, i) => `${i}${'仙人掌'.repeat(100)}`);
    const lists = await Promise.all(tags.map((tag) => client.listPlants.query({ tag })));
    expect(lists).toEqual(tags.map(() => ({ plants: [] })));
  });

  it('calls the token function for each request', async () => {
    const tokens = ['expired', 'secret-of-the-tests'];
    const { createPlant } = createPlantStoreClient({ url, token: () => tokens.shift() ?? '' });
    const create = () => createPlant.mutate({ id: 1, name: 'x' });
    expect(await errorOf(create())).toMatchObject({ code: 40101, kind: 'tokenInvalid' });
    expect(await create()).toEqual({ name: 'x' });
  });

  it('accepts an address that ends with a slash', async () => {
    const { createPlant } = createPlantStoreClient({ url: `${url}/`, token });
    expect(await createPlant.mutate({ id: 1, name: 'x' })).toEqual({ name: 'x' });
  });
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

  it('returns the error of a plant in a batch', async () => {
    await client.createPlant.mutate({ id: 3, name: 'x' });
    const plants = [3, 4].map((id) => ({ id, name: 'y' }));
    const { results } = await client.createPlants.mutate({ plants });
    expect(results.map((result) => plantStoreError(result))).toEqual([
      { kind: 'idTaken', code: 40900, message: expect.stringContaining('id 3 belongs to') },
      undefined,
    ]);
    expect([...results, { id: 1n, error: 50301, message: 'x' }].map(isRetryable)).toEqual([
      ...[false, false, true],
    ]);
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
    const nowhere = createPlantStoreClient({ url: 'http://127.0.0.1:1', token, retry: false });
    expect(await errorOf(nowhere.createPlant.mutate({ id: 1, name: 'x' }))).toEqual({
      kind: 'noResponse',
      code: undefined,
      message: expect.stringContaining('the plant store did not respond: check its address'),
    });
  });

  it('names PLANT_STORE_CORS_ORIGINS when a request to another origin fails', async () => {
    const call = (store: string) => {
      const { createPlant } = createPlantStoreClient({ url: store, token, retry: false });
      return errorOf(createPlant.mutate({ id: 1, name: 'x' }));
    };
    const setting = /check that its PLANT_STORE_CORS_ORIGINS has https:\/\/app\.example\.com\)$/;
    expect((await call('http://127.0.0.1:1'))?.message).not.toContain('CORS');
    vi.stubGlobal('location', new URL('https://app.example.com/plants'));
    onTestFinished(() => void vi.unstubAllGlobals());
    expect(await call('http://127.0.0.1:1')).toMatchObject({
      kind: 'noResponse',
      message: expect.stringMatching(setting),
    });
    expect((await call('/'))?.message).not.toContain('CORS');
  });

  it('reports that a query is too large for a request', async () => {
    const lists = [20_000, 90].map((length) =>
      client.listPlants.query({ tag: 'x'.repeat(length) }),
    );
    const [long, short] = await Promise.allSettled(lists);
    expect(short).toMatchObject({ status: 'fulfilled' });
    expect(long).toMatchObject({ status: 'rejected' });
    expect(plantStoreError(Object(long).reason)).toEqual({
      kind: 'headersTooLarge',
      code: 43100,
      message: 'the request headers are over 16 KiB: send fewer or shorter ones',
    });
  });

  const errorFrom = async (page: string) => {
    const proxy = await listen((_request, response) => response.writeHead(502).end(page));
    const { createPlant } = createPlantStoreClient({ url: proxy, token, retry: false });
    return errorOf(createPlant.mutate({ id: 1, name: 'x' }));
  };

  it('reads an error in the format of REST', async () => {
    const message = 'the request headers are over 16 KiB: send fewer or shorter ones';
    expect(await errorFrom(JSON.stringify({ error: 43100, message }))).toEqual({
      kind: 'headersTooLarge',
      code: 43100,
      message,
    });
  });

  it.each(['<h1>Bad gateway</h1>', '{"message":"Bad gateway"}', '{"error":502,"message":"x"}'])(
    'says that the store did not respond when a proxy responds (%s)',
    async (page) => {
      expect(await errorFrom(page)).toMatchObject({ kind: 'noResponse' });
    },
  );

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
    ['an empty text', '', missing],
    ['a function that resolves to an empty text', async () => '', missing],
    ['a text with a line break', 'secret\nsecret', invalid],
    ['a text with DEL', 'secret\x7f', invalid],
    ['a text outside Latin-1', 'secret🌻', invalid],
    ['a function that returns such a text', () => 'secret…', invalid],
  ])('causes an AccessTokenError when the token is %s', async (_kind, token, message) => {
    const thrown = await thrownBy(create(token));
    expect(thrown).toMatchObject({ message, cause: expect.any(AccessTokenError) });
    expect(inspect(thrown, { depth: null })).not.toContain('secret-of-the-tests');
    expect(plantStoreError(thrown)).toBeUndefined();
  });

  it('causes an AccessTokenError when the token function throws an error', async () => {
    const cause = new TypeError('signed out');
    const token = async () => {
      throw cause;
    };
    const thrown = await thrownBy(create(token));
    expect(thrown).toMatchObject({
      message: 'the token function threw an error: signed out',
      cause: { name: 'AccessTokenError', cause },
    });
    expect(plantStoreError(thrown)).toBeUndefined();
  });

  it('accepts an access token that ends with a line break', async () => {
    const { createPlant } = createPlantStoreClient({ url, token: `${token}\n` });
    expect(await createPlant.mutate({ id: 1, name: 'x' })).toEqual({ name: 'x' });
  });
});

describe('the types', () => {
  it('are the same in the client and in core', () => {
    expectTypeOf<inferRouterInputs<AppRouter>>().toEqualTypeOf<inferRouterInputs<CoreRouter>>();
    expectTypeOf<inferRouterOutputs<AppRouter>>().toEqualTypeOf<inferRouterOutputs<CoreRouter>>();
    expectTypeOf<inferRouterError<AppRouter>>().toEqualTypeOf<inferRouterError<CoreRouter>>();
  });

  it('describe the input and the output of a procedure', () => {
    const { mutate } = client.createPlant;
    expectTypeOf(mutate).parameter(0).toHaveProperty('id').toEqualTypeOf<bigint | number>();
    expectTypeOf(mutate).parameter(0).toHaveProperty('name').toEqualTypeOf<string>();
    expectTypeOf(mutate).returns.resolves.toEqualTypeOf<Plant>();
  });

  it('distinguish an error from a success in the results of a batch', () => {
    const described = async () => {
      const { results } = await client.createPlants.mutate({ plants: [{ id: 1, name: 'x' }] });
      return results.map((result) => ('error' in result ? result.message : result.result));
    };
    expectTypeOf(described).returns.resolves.toEqualTypeOf<string[]>();
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

  it('limit the type of an error to the errors of one procedure', () => {
    const kindsOf = (thrown: unknown) => ({
      getPlant: plantStoreError<'getPlant'>(thrown)?.kind,
      createPlant: plantStoreError<'createPlant'>(thrown)?.kind,
      plantChanges: plantStoreError<'plantChanges'>(thrown)?.kind,
    });
    type Kinds = { [Name in keyof ReturnType<typeof kindsOf>]: ReturnType<typeof kindsOf>[Name] };
    type Own<Name extends keyof Kinds> = Extract<
      Kinds[Name],
      'plantUnknown' | 'idTaken' | 'cursorExpired' | 'overloaded' | 'timeout'
    >;
    expectTypeOf<Own<'getPlant'>>().toEqualTypeOf<'plantUnknown' | 'overloaded' | 'timeout'>();
    expectTypeOf<Own<'createPlant'>>().toEqualTypeOf<'idTaken' | 'overloaded' | 'timeout'>();
    expectTypeOf<Own<'plantChanges'>>().toEqualTypeOf<'cursorExpired' | 'overloaded' | 'timeout'>();
  });

  it('reject invalid code', () => {
    const rejected = () => [
      // @ts-expect-error: an id is not a string
      client.createPlant.mutate({ id: '1', name: 'x' }),
      // @ts-expect-error: a plant has a name
      client.createPlant.mutate({ id: 1n }),
      // @ts-expect-error: a tag is a string
      client.createPlant.mutate({ id: 1n, name: 'x', tag: null }),
      // @ts-expect-error: a plant has no height
      client.createPlant.mutate({ id: 1n, name: 'x', height: 3 }),
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

import { createServer } from 'node:http';
import { createDatabase, startOnPostgres } from '@plant-store/test-setup';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, expectTypeOf, inject, it } from 'vitest';
import { createPlantStoreClient, type PlantStoreClient, plantStoreError } from '../src/index.ts';

let databaseUrl: string;
let server: Awaited<ReturnType<typeof startOnPostgres>>;
let url: string;
let token: string;
let client: PlantStoreClient;

beforeAll(async () => {
  databaseUrl = await createDatabase(inject('postgresUrl'));
  server = await startOnPostgres(databaseUrl);
  ({ PLANT_STORE_URL: url, PLANT_STORE_TOKEN: token } = server.env);
  client = createPlantStoreClient({ url, token });
});

afterAll(() => server.stop());

const storedIds = async () => {
  const sql = postgres(databaseUrl);
  const rows = await sql`select id::text from plants order by id`;
  await sql.end();
  return rows.map(({ id }) => BigInt(id));
};

/** What the call throws. */
const thrownBy = (call: Promise<unknown>) =>
  call.then(
    () => expect.unreachable('the call succeeded'),
    (thrown: unknown) => thrown,
  );

const failureOf = async (call: Promise<unknown>) => plantStoreError(await thrownBy(call));

describe('createPlantStoreClient', () => {
  it('creates plants under ids beyond 2^53, more at once than one request carries', async () => {
    const ids = Array.from({ length: 25 }, (_, i) => 9007199254740993n + BigInt(i));
    const plant = { name: 'Monstera deliciosa', tag: 'Araceae' };
    const created = await Promise.all(ids.map((id) => client.createPlant.mutate({ id, ...plant })));
    expect(created).toEqual(ids.map(() => plant));
    expect(await storedIds()).toEqual(ids);
  });

  it.each([
    ['a function', () => 'secret'],
    ['an async function', async () => 'secret'],
  ])('takes the token from %s', async (_what, token) => {
    const { createPlant } = createPlantStoreClient({ url, token });
    expect(await createPlant.mutate({ id: 1, name: 'x' })).toEqual({ name: 'x' });
  });

  it('asks for the token again for each request', async () => {
    const tokens = ['expired', 'secret'];
    const { createPlant } = createPlantStoreClient({ url, token: () => tokens.shift() ?? '' });
    const create = () => createPlant.mutate({ id: 1, name: 'x' });
    expect(await failureOf(create())).toMatchObject({ code: 40101, kind: 'tokenInvalid' });
    expect(await create()).toEqual({ name: 'x' });
  });

  it('finds the store at an address with a slash at its end', async () => {
    const { createPlant } = createPlantStoreClient({ url: `${url}/`, token });
    expect(await createPlant.mutate({ id: 1, name: 'x' })).toEqual({ name: 'x' });
  });
});

describe('plantStoreError', () => {
  it('names the error of the catalogue', async () => {
    await client.createPlant.mutate({ id: 2, name: 'x' });
    expect(await failureOf(client.createPlant.mutate({ id: 2, name: 'y' }))).toEqual({
      kind: 'idTaken',
      code: 40900,
      message: 'id 2 belongs to another plant: choose an id that is free',
    });
  });

  it('has the messages for each field of a form', async () => {
    expect(await failureOf(client.createPlant.mutate({ id: 1.5, name: '\0' }))).toMatchObject({
      kind: 'invalidInput',
      code: 40001,
      fields: {
        id: ['must be an integer from -9223372036854775808 to 9223372036854775807'],
        name: ['must not contain U+0000 or a lone surrogate'],
      },
    });
  });

  it('tells a network that failed from an answer', async () => {
    const nowhere = createPlantStoreClient({ url: 'http://127.0.0.1:1', token });
    expect(await failureOf(nowhere.createPlant.mutate({ id: 1, name: 'x' }))).toEqual({
      kind: 'unanswered',
      code: undefined,
      message: expect.stringContaining('the plant store did not answer: check its address'),
    });
  });

  it.each(['<h1>Bad gateway</h1>', '{"message":"Bad gateway"}'])(
    'tells what a proxy says from an answer of the store (%s)',
    async (page) => {
      const proxy = createServer((_request, response) => response.writeHead(502).end(page));
      await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
      const address = proxy.address();
      const port = typeof address === 'object' ? address?.port : undefined;
      const { createPlant } = createPlantStoreClient({ url: `http://127.0.0.1:${port}`, token });
      const failure = await failureOf(createPlant.mutate({ id: 1, name: 'x' }));
      expect(failure).toMatchObject({ kind: 'unanswered' });
      proxy.closeAllConnections();
      proxy.close();
    },
  );

  it('leaves alone what the caller itself brought about', async () => {
    const token = async () => {
      throw new TypeError('signed out');
    };
    const signedOut = createPlantStoreClient({ url, token });
    const noToken = await thrownBy(signedOut.createPlant.mutate({ id: 1, name: 'x' }));
    expect(noToken).toMatchObject({ message: 'the token function failed: signed out' });
    const aborted = await thrownBy(
      client.createPlant.mutate({ id: 1, name: 'x' }, { signal: AbortSignal.abort() }),
    );
    for (const thrown of [noToken, aborted, new Error('a bug'), 'text', undefined]) {
      expect(plantStoreError(thrown)).toBeUndefined();
    }
  });
});

describe('the types', () => {
  it('take and give what the procedure does', () => {
    const { mutate } = client.createPlant;
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

  it('are narrowed by the number and by the kind', () => {
    const narrowed = (thrown: unknown) => {
      const error = plantStoreError(thrown);
      if (error?.code === 40900) expectTypeOf(error.kind).toEqualTypeOf<'idTaken'>();
      if (error?.kind === 'idTaken') expectTypeOf(error.code).toEqualTypeOf<40900>();
      if (error?.kind === 'unanswered') expectTypeOf(error.code).toEqualTypeOf<undefined>();
      if (error?.code === 40001) {
        expectTypeOf(error.fields['name']).toEqualTypeOf<string[] | undefined>();
      }
      return error?.message;
    };
    expectTypeOf(narrowed).returns.toEqualTypeOf<string | undefined>();
  });

  it('refuse what the store would', () => {
    const refused = () => [
      // @ts-expect-error: an id is no text
      client.createPlant.mutate({ id: '1', name: 'x' }),
      // @ts-expect-error: a plant has a name
      client.createPlant.mutate({ id: 1n }),
      // @ts-expect-error: a tag is text
      client.createPlant.mutate({ id: 1n, name: 'x', tag: null }),
      // @ts-expect-error: a plant has no height
      client.createPlant.mutate({ id: 1n, name: 'x', height: 3 }),
      // @ts-expect-error: a mutation is no query
      client.createPlant.query({ id: 1n, name: 'x' }),
      // @ts-expect-error: there is no such procedure
      client.deletePlant.mutate({ id: 1n }),
      // @ts-expect-error: the token must be given
      createPlantStoreClient({ url }),
      // @ts-expect-error: only a field that is wrong has messages
      plantStoreError(undefined)?.fields,
      // @ts-expect-error: there is no such number
      plantStoreError(undefined)?.code === 40999,
    ];
    expectTypeOf(refused).toBeFunction();
  });
});

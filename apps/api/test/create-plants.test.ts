import { runSql } from '@plant-store/test-setup';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { callers } from './fixtures/callers.ts';
import { documentValidator } from './fixtures/document-validator.ts';
import { shareServer, startServer } from './fixtures/running-server.ts';
import { post } from './fixtures/surfaces.ts';

interface Plant {
  id: unknown;
  name?: unknown;
  tag?: unknown;
}

const [minimum, maximum] = [-(2n ** 63n), 2n ** 63n - 1n];

const plantsFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({ id: BigInt(first + i), name: `plant ${first + i}` }));
const created = (id: bigint) => ({ id, result: 'created' });
const exists = (id: bigint) => ({ id, result: 'exists' });
const taken = (id: bigint) => ({
  id,
  error: 40900,
  message: `id ${id} belongs to another plant: choose an id that is free`,
  result: 'error',
});

describe.each(callers)('over $name', ({ call }) => {
  const server = shareServer();

  const createPlants = (plants: Plant[]) => call(server, 'createPlants', { plants });
  const nameOf = async (id: bigint) => (await server.store.get(id))?.name;

  it('returns a result for each plant in the order of the input', async () => {
    const plants = [
      { id: maximum, name: '🌻', tag: '' },
      { id: 7n, name: 'a "quoted" \\ name', tag: 'NULL' },
      { id: minimum, name: 'NULL' },
      { id: 9007199254740993n, name: '' },
    ];
    const { status, output } = await createPlants(plants);
    expect(status).toBe(200);
    expect(output).toStrictEqual({ results: plants.map(({ id }) => created(id)) });
    for (const plant of plants) {
      const createdAt = expect.any(Date);
      expect(await server.store.get(plant.id)).toStrictEqual({ ...plant, createdAt });
    }
  });

  it('returns which plants exist already, and which ids belong to other plants', async () => {
    await server.store.create({ id: 101n, name: 'Hoya', tag: 'Apocynaceae' });
    const { output } = await createPlants([
      { id: 102n, name: 'Hoya' },
      { id: 101n, name: 'Hoya', tag: 'Apocynaceae' },
    ]);
    expect(output).toStrictEqual({ results: [created(102n), exists(101n)] });
    const again = await createPlants([
      { id: 102n, name: 'Ficus' },
      { id: 101n, name: 'Hoya' },
      { id: 103n, name: 'Pilea' },
    ]);
    expect(again.status).toBe(200);
    expect(again.output).toStrictEqual({ results: [taken(102n), taken(101n), created(103n)] });
    expect(await nameOf(102n)).toBe('Hoya');
  });

  const first = { id: 301n, name: 'x' };
  const notAList = 'plants must be a list of 1 to 1000 plants';

  it.each([
    [[first, { id: '302', name: 'x' }], 'plants[1].id must be'],
    [[...plantsFrom(301, 3), { id: 304n }], 'plants[3].name is missing: it must be a string'],
    [[{ ...first, tag: '\0' }], 'plants[0].tag must not contain U+0000'],
    [[first, null], 'plants[1] must be an object'],
    ...[[], plantsFrom(301, 1_001), undefined, 'plants'].map((plants) => [plants, notAList]),
  ] as [unknown, string][])('rejects the whole call for %#: %s', async (plants, why) => {
    const outcome = await call(server, 'createPlants', { plants });
    expect(outcome).toMatchObject({ status: 400, error: 40001 });
    expect(outcome.message).toContain(`invalid input: ${why}`);
    expect(await nameOf(301n)).toBeUndefined();
  });

  it('names only the first ten errors of an input', async () => {
    const { message } = await createPlants(Array.from({ length: 1_000 }, () => ({ id: 1.5 })));
    expect(message).toMatch(/plants\[4\]\.name is missing: it must be a string; and 1990 more$/);
  });
});

describe('a server', () => {
  const server = shareServer();
  let document: Awaited<ReturnType<typeof documentValidator>>;

  beforeAll(async () => {
    document = await documentValidator(server.url);
  });

  const send = async (body: string) => {
    const response = await post(server, '/plants/batch', body);
    return { status: response.status, headers: response.headers, body: await response.text() };
  };

  it('responds with exact ids over REST, as the OpenAPI document describes', async () => {
    const plants = '{"id":9223372036854775807,"name":"x"},{"id":9223372036854775807,"name":"y"}';
    const response = await send(`{"plants":[${plants}]}`);
    expect(response).toMatchObject({
      status: 200,
      body:
        '{"results":[{"id":9223372036854775807,"result":"created"},' +
        '{"id":9223372036854775807,"error":40900,' +
        '"message":"id 9223372036854775807 belongs to another plant: choose an id that is free",' +
        '"result":"error"}]}',
    });
    expect(document.operation('POST /plants/batch').differencesFrom(response)).toEqual([]);
  });

  it('names only the first ten errors in the property fields of a tRPC error', async () => {
    const plants = Array.from({ length: 1_000 }, () => ({ id: 1.5 }));
    const response = await post(server, '/trpc/createPlants', JSON.stringify({ json: { plants } }));
    const { error } = Object(await response.json());
    expect(error.json.data.fields.plants).toHaveLength(10);
  });

  it('accepts a body of 1 MiB with a thousand plants', async () => {
    const name = '🌻'.repeat(255);
    const plants = plantsFrom(1, 1_000).map(({ id }) => `{"id":${id},"name":"${name}"}`);
    const { status, body } = await send(`{"plants":[${plants}]}`);
    expect(status).toBe(200);
    expect(body.match(/"created"/g)).toHaveLength(1_000);
  });
});

it('returns the error of one plant in the result of this plant, and creates the other plants', async () => {
  const server = await startServer();
  onTestFinished(server.stop);
  const constraint = "add constraint no_poison check (name <> 'poison')";
  await runSql(server.databaseUrl, `alter table plants ${constraint}`);
  const plants = plantsFrom(1, 600).map((plant) =>
    plant.id % 250n === 7n ? { ...plant, name: 'poison' } : plant,
  );
  const message =
    'the table does not allow this plant (SQLSTATE 23514): nothing was written, tell the operator before you send it again';
  for (const { call } of callers) {
    const { output } = await call(server, 'createPlants', { plants });
    const result = call === callers[0]?.call ? 'created' : 'exists';
    expect(output).toStrictEqual({
      results: plants.map(({ id, name }) =>
        name === 'poison' ? { id, error: 50001, message, result: 'error' } : { id, result },
      ),
    });
  }
  // The log has a line for each request, and at most one line a second with the cause of an error.
  const lines = server.log.map((line) => JSON.parse(line));
  const requests = lines.filter(({ msg }) => msg === 'request');
  const outcomes = requests.map(({ status, errorCode }) => [status, errorCode]);
  expect(outcomes).toEqual(Array(2).fill([200, 50001]));
  expect(lines).toContainEqual(expect.objectContaining({ level: 40, errorCode: 50001 }));
});

import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callers } from './fixtures/callers.ts';
import { documentValidator } from './fixtures/document-validator.ts';
import { type RunningServer, startServer } from './fixtures/running-server.ts';
import { databases } from './fixtures/surfaces.ts';

const cases = databases.flatMap((database) => callers.map((caller) => ({ database, caller })));

describe.each(cases)('over $caller.name on $database', ({ database, caller: { call } }) => {
  let server: RunningServer;

  beforeAll(async () => {
    server = await startServer(database);
    for (let id = 1n; id <= 7n; id++) {
      await server.store.create({ id, name: 'x', ...(id <= 3n && { tag: '🌻 100%s' }) });
    }
  });

  afterAll(() => server.stop());

  it('counts all plants', async () => {
    const { status, output } = await call(server, 'countPlants', {});
    expect(status).toBe(200);
    expect(output).toStrictEqual({ count: 7, isExact: true });
  });

  it.each([
    ['🌻 100%s', 3],
    ['🌻', 0],
    ['', 0],
  ])('counts the plants with the tag %j', async (tag, count) => {
    const { output } = await call(server, 'countPlants', { tag });
    expect(output).toStrictEqual({ count, isExact: true });
  });

  it.each([
    [{ tag: '\0' }, 'invalid input: tag must not contain U+0000 or a lone surrogate'],
    [{ limit: 5 }, 'invalid input: it has no parameter "limit"'],
  ])('rejects %j', async (input, message) => {
    const outcome = await call(server, 'countPlants', input);
    expect(outcome).toMatchObject({ status: 400, error: 40001, message });
  });
});

describe('a table with more than a million plants', () => {
  let server: RunningServer;

  beforeAll(async () => {
    server = await startServer('Postgres');
    const sql = postgres(server.databaseUrl ?? '');
    await sql`
      insert into plants (id, name, tag)
      select i, 'x', case when i > 1 then 'common' else 'rare' end from generate_series(1, 1000001) i`;
    await sql.end();
  });

  afterAll(() => server.stop());

  it.each([
    [{}, { count: 1_000_000, isExact: false }],
    [{ tag: 'common' }, { count: 1_000_000, isExact: true }],
    [{ tag: 'rare' }, { count: 1, isExact: true }],
  ])('has for %j the count %j', async (input, count) => {
    for (const { call } of callers) {
      expect((await call(server, 'countPlants', input)).output).toStrictEqual(count);
    }
  });

  it('has a response that the document describes', async () => {
    const document = await documentValidator(server.url);
    const headers = { authorization: `Bearer ${server.token}` };
    const response = await fetch(`${server.url}/plants/count`, { headers });
    const body = await response.text();
    expect(body).toBe('{"count":1000000,"isExact":false}');
    const operation = document.operation('GET /plants/count');
    expect(operation.differencesFrom({ status: 200, headers: response.headers, body })).toEqual([]);
  });
});

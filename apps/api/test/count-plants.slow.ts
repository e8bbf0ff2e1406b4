import postgres from 'postgres';
import { beforeAll, describe, expect, it } from 'vitest';
import { callers } from './fixtures/callers.ts';
import { documentValidator } from './fixtures/document-validator.ts';
import { shareServer } from './fixtures/running-server.ts';

describe('a table with more than a million plants', () => {
  const server = shareServer();

  beforeAll(async () => {
    const sql = postgres(server.databaseUrl ?? '');
    await sql`
      insert into plants (id, name, tag)
      select i, 'x', case when i > 1 then 'common' else 'rare' end from generate_series(1, 1000001) i`;
    await sql.end();
  });

  it.each([
    [{}, { count: 1_000_000, isExact: false }],
    [{ tag: 'common' }, { count: 1_000_000, isExact: true }],
    [{ tag: 'rare' }, { count: 1, isExact: true }],
  ])('returns for the input %j the count %j', async (input, count) => {
    for (const { call } of callers) {
      expect((await call(server, 'countPlants', input)).output).toStrictEqual(count);
    }
  });

  it('returns a response that the document describes', async () => {
    const document = await documentValidator(server.url);
    const headers = { authorization: `Bearer ${server.token}` };
    const response = await fetch(`${server.url}/plants/count`, { headers });
    const body = await response.text();
    expect(body).toBe('{"count":1000000,"isExact":false}');
    const operation = document.operation('GET /plants/count');
    expect(operation.differencesFrom({ status: 200, headers: response.headers, body })).toEqual([]);
  });
});

import postgres from 'postgres';
import { beforeAll, describe, expect, it } from 'vitest';
import { callers } from './fixtures/callers.ts';
import { shareServer } from './fixtures/running-server.ts';

describe('a server whose table has more than a million plants', () => {
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
  ])('counts the plants for the input %j as %j', async (input, count) => {
    for (const { call } of callers) {
      expect((await call(server, 'countPlants', input)).output).toStrictEqual(count);
    }
  });
});

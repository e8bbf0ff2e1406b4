import { createDatabase, startOnPostgres } from '@plant-store/test-setup';
import postgres from 'postgres';
import { expect, inject, it } from 'vitest';
import { run } from './fixtures/run-program.ts';

/** This test passes only after the changes in docs/worked-examples.md, which give plants a height. */
it('stores the height of a plant that comes over REST or tRPC, or in CSV or NDJSON', async () => {
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  const server = await startOnPostgres(databaseUrl);
  const { PLANT_STORE_URL: url, PLANT_STORE_TOKEN: token } = server.env;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const post = async (path: string, body: string) => {
    const response = await fetch(`${url}${path}`, { method: 'POST', headers, body });
    return { status: response.status, body: await response.text() };
  };
  const cli = (args: string[], input = '') =>
    run(args, { env: { DATABASE_URL: databaseUrl }, input });

  const plant = '"name":"Monstera deliciosa","heightCm":120';
  const created = { status: 200, body: `{${plant}}` };
  expect(await post('/plants', `{"id":1,${plant}}`)).toEqual(created);
  expect(await post('/plants', `{"id":1,${plant}}`)).toEqual(created);
  expect(await post('/plants', '{"id":1,"name":"Monstera deliciosa","heightCm":9}')).toMatchObject({
    status: 409,
  });
  expect(await post('/trpc/createPlant', `{"json":{"id":2,${plant}}}`)).toMatchObject({
    status: 200,
  });

  expect(await post('/plants', '{"id":7,"name":"Sequoia","heightCm":20001}')).toEqual({
    status: 400,
    body: '{"error":40001,"message":"invalid input: heightCm must be an integer from 0 to 20000"}',
  });

  await cli(
    ['import', '-', '--format', 'csv'],
    'id,name,height_cm\n3,Hoya,20000\n4,Pilea,\n5,Ficus,tall\n',
  );
  await cli(
    ['import', '-'],
    '{"id":6,"name":"Hoya","height_cm":20000}\n{"id":1,"name":"Monstera deliciosa","heightCm":9}\n',
  );
  const sql = postgres(databaseUrl);
  expect([...(await sql`select id::int, height_cm from plants order by id`)]).toEqual([
    { id: 1, height_cm: 120 },
    { id: 2, height_cm: 120 },
    { id: 3, height_cm: 20_000 },
    { id: 4, height_cm: null },
    { id: 6, height_cm: 20_000 },
  ]);
  await sql.end();
  expect((await cli(['export', '--columns', 'id,height_cm'])).stdout).toContain(
    '{"id":3,"height_cm":20000}\n{"id":4}\n',
  );
  expect((await cli(['export', '--format', 'csv', '--columns', 'id,height_cm'])).stdout).toContain(
    'id,height_cm\n1,120\n',
  );
  await server.stop();
});
